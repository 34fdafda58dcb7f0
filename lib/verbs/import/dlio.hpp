// Makes an experiment and an accelerator profile of a workload of DLIO, like those in configs/dlio/workload of
// mlcommons/storage.
#pragma once

#include <string>
#include <vector>

#include "spec/profile.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {

// The data loaders of DLIO for which chexbench has a pipeline.
enum class DlioLoader { pytorch, tensorflow, dali };

// A key of the file that the experiment does not use.
struct LeftOut {
  int line = 0;
  std::string path;
  std::string text;
  std::string why;
};

// What chexbench takes from a workload. The defaults are DLIO's.
struct DlioWorkload {
  std::string name;   // the file's, without folder and extension
  std::string model;  // the network's name there; may be empty
  spec::DataFormat format = spec::DataFormat::tfrecord;
  std::string data_folder;  // empty if the file names none
  DlioLoader loader = DlioLoader::tensorflow;
  int batch_size = 1;
  bool batch_is_default = true;
  double computation_time_s = 0;
  double record_bytes = 0;
  double delivered_bytes = 0;  // to which DLIO resizes a record; 0 if it does not
  int read_threads = 1;
  int computation_threads = 1;
  int prefetch_size = 2;
  int shuffle_size = 1024;
  bool shuffles = false;
  int epochs = 1;
  double au = 0.9;
  bool au_is_default = true;
  std::vector<LeftOut> left_out;  // in the order of the file
};

// Parses the text of a workload; `source` is its path, which names it in errors.
// @throws SpecError with source and line if it is not YAML that chexbench reads (yaml.hpp), trains nothing, lacks a
// required key, or reads data that chexbench cannot
DlioWorkload parse_dlio_workload(const std::string& text, const std::string& source);

// Two files in one folder.
struct DlioImport {
  std::string spec_path, spec_text;        // an experiment with comments, which names the profile
  std::string profile_path, profile_text;  // for engine emulated:<profile_path>
};

// Returns the accelerator of a workload: one entry, whose time of a step is train.computation_time. `source` is the
// origin of the workload.
spec::AcceleratorProfile dlio_profile(const DlioWorkload& workload, const std::string& source);

// Returns the files of a workload in `folder`. Writes nothing.
// @throws SpecError if the workload makes no valid experiment
DlioImport import_dlio(const DlioWorkload& workload, const std::string& source, const std::string& folder);

// Returns the report of an import: the workload in numbers, the parts left out, and the next commands.
std::string import_summary(const DlioWorkload& workload, const DlioImport& made);

}  // namespace chexbench::verbs
