// Measures how fast this machine's cores deliver the images of a folder, and which accelerators that feeds, for
// `chexbench DIR`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

inline constexpr double kLongestProbe_s = 86400;

// One accelerator of configs/accelerators that trains ResNet50, and how well it would be fed.
struct FedAccelerator {
  std::string name;  // of the profile
  std::string device;
  spec::Precision precision = spec::Precision::f32;
  double images_per_s = 0;  // of one accelerator, by the profile
  double share = 0;         // measured rate / images_per_s
  // How many of them the rate, and the ends of its interval, feed fully; all equal without an interval.
  int count = 0, count_low = 0, count_high = 0;
  bool named = false;  // in the answer as text
};

// One way to read the data set. Measurements of the ways alternate.
struct ProbedWay {
  std::string name;      // "png", "jpeg", "jpeg scaled", "tfrecord", "webdataset"
  std::string settings;  // for --set: "data.format=tfrecord"; empty for the first way
  double images_per_s = 0;
  std::optional<measure::Interval> ci95;
  std::size_t repeats = 0;
  std::optional<measure::Ratio> ratio;                // to the first way; empty for the first way itself
  results::Grade grade = results::Grade::told_apart;  // of the rate or, for further ways, of the ratio
};

// How the threads that make batches spend their time; the shares sum to 1.
struct WorkShares {
  double read = 0;  // and parsing records
  double decode = 0;
  double resize = 0;
  double other = 0;
};

// What limits the rate of the first way.
enum class Holdup {
  cores,  // all busy
  read,   // idle cores, and threads wait for files
  op,     // idle cores for another reason
};

struct ProbeResult {
  std::string root;
  spec::DataLayout layout = spec::DataLayout::nih;
  std::size_t images = 0;
  std::size_t png_files = 0;
  std::size_t files = 0;
  std::optional<double> mean_file_bytes;
  int ranks = 1;
  int cores = 0;                // of all ranks
  std::vector<ProbedWay> ways;  // the one without conversion first; empty if the time was up before one was measured
  double time_s = 0;            // the time limit
  bool time_was_up = false;     // before the plan was complete
  std::optional<double> stopped_after_s;  // set if a signal ended it early
  std::uint64_t images_seen = 0;          // of rank 0, in the last repeat
  // The following are those of the first way.
  WorkShares work;
  Holdup holdup = Holdup::cores;
  std::string wait_op;    // the op that batches waited for, "map_and_batch"
  std::string wait_part;  // the part of it: "decode"
  double cores_busy_share = 0;
  double images_per_s_per_core = 0;
  std::optional<double> cached_share;               // of the files' bytes that were in memory; empty if it is not known
  std::uint64_t bad_records = 0;                    // images that could not be read and were skipped, once for each try
  double bad_share = 0;                             // about, of all tries
  std::string passed_over;                          // unused images, in words; empty if there are none
  std::map<std::string, std::size_t> passed_files;  // counts of unused files, by the word for the reason
  bool is_distant = false;                          // the files are on a server
  std::string disturbance;                          // cores used by other processes, in words, if significant
  std::string cpu_limit;                            // cores lost to a CPU limit, in words, if significant
  double free_images_per_s = 0;                     // then: the most that an idle machine would give
  std::vector<FedAccelerator> accelerators;         // by images_per_s
  // Paths of written files; empty if there are none.
  std::string folder;
  std::string spec_file;
};

// The progress of the measurement.
struct ProbeProgress {
  double passed_s = 0;
  double time_s = 0;                   // the time limit
  std::optional<double> images_per_s;  // of the current repeat
};

struct ProbeOptions {
  double time_s = 60;                                     // for measuring; listing a large data set is extra
  std::function<void(const ProbeProgress&)> on_progress;  // may be empty
  std::vector<std::string> gpus;                          // for fed_accelerators()
};

// The result, in short and as a run of engine none, whose first trial is the way in the answer.
struct Probe {
  ProbeResult result;
  results::Report report;
  std::exception_ptr interrupted;  // the InterruptedError that ended it early, or null
};

// Looks at the data set, and reads it in each way that there is for at most options.time_s, by bench's own loop: a
// short first repeat of each way determines the length of the others. Ranks share the work as in any run; only rank 0
// gets a result. Collective over the world. A world of one rank ends in time, as soon as its reads return; a larger one
// takes longer if its first repeat does. After a signal, the partial result has the measurements so far.
// @throws DataError, SpecError, DeviceError as dataset::report_index() and bench::run_trials(); InterruptedError before
// the first of them is done
Probe probe(const spec::DataSpec& data, comm::World& world, const ProbeOptions& options);

// Returns the accelerators with ResNet50's rate at 224 x 224, by that rate, and how many of each are fed: the built-in
// ones (the text names V100, A100 and H100), or the profiles `gpus`. Computed rates do not count. Pure, except that it
// reads profiles. @throws SpecError for a profile that is unknown or has no such rate
std::vector<FedAccelerator> fed_accelerators(double images_per_s, const std::optional<measure::Interval>& ci95,
                                             const std::vector<std::string>& gpus = {});

// Returns the answer: the rate and its limit in the first line, then at most eleven lines that begin with their topic.
// A grade that is not `told apart` follows the first line, and so does "partial" if a signal stopped the measuring.
std::string probe_text(const ProbeResult& result);

// Returns the whole result as a JSON object; undefined values are null.
std::string probe_json(const ProbeResult& result);

}  // namespace chexbench::verbs
