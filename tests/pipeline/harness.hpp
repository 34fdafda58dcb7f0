// Helpers for the pipeline tests: data sets, op lists, and functions that run them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.hpp"
#include "pipeline/builder.hpp"
#include "pipeline/pipeline.hpp"

namespace chexbench::pipeline::test {

// A new folder under testing::TempDir(), removed with this object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Returns the shipped X-rays (all 24, shrunk) as PNG files, or converted, once per process, to 16 shards or to cached
// pixels of Setting's size.
const dataset::Dataset& xrays(spec::DataFormat format);

// Makes a copy of the same files, for tests that damage files.
dataset::Dataset copy_xrays(const TempFolder& folder, spec::DataFormat format);

// Converts the data set that copy_xrays() put into `folder`.
dataset::Dataset converted(const TempFolder& folder, spec::DataFormat format);

// Returns a data set of this many nonexistent PNGs, for ops that open no file.
dataset::Dataset files(std::size_t count);

// Writes a shard whose records are the payloads.
void write_shard(const std::string& path, const std::vector<std::string>& payloads);

using Parameters = std::map<std::string, spec::ParameterValue>;

// Returns an op with default parameters, except for those in `parameters`.
spec::OpSpec op(const std::string& name, const Parameters& parameters = {});
spec::PipelineSpec list(std::vector<spec::OpSpec> ops);
// Returns a preset whose endless repeat is limited to `epochs`.
spec::PipelineSpec finite_preset(const std::string& name, int epochs);
// Changes a parameter of every op called `name`.
void set(spec::PipelineSpec& pipeline, const std::string& name, const std::string& parameter,
         spec::ParameterValue value);

// Returns a preset's name without hyphens, which GoogleTest does not accept in names.
std::string test_name(std::string preset);

// The settings that a pipeline is run with.
struct Setting {
  int batch = 4;
  int size = 32;
  Deliver deliver = Deliver::u8;
  int rank = 0;
  int world = 1;
  std::uint64_t seed = 1;
  std::size_t threads = 2;
  bool flip = false;
  spec::OnBadRecord on_bad_record = spec::OnBadRecord::stop;
  spec::Color color = spec::Color::gray;
};

PipelineContext context_of(const dataset::Dataset& dataset, const spec::PipelineSpec& pipeline, const Setting& setting);

// One delivered image.
struct Delivered {
  ExampleId id;
  std::uint64_t hash = 0;  // hash of its tensor and labels
  friend bool operator==(const Delivered&, const Delivered&) = default;
};

std::vector<Delivered> images_of(const Batch& batch);

// Runs a pipeline to its end, or for `most` batches.
std::vector<Delivered> run(const dataset::Dataset& dataset, const spec::PipelineSpec& pipeline, const Setting& setting,
                           std::optional<std::size_t> most = {});
std::vector<Delivered> drain(Pipeline& pipeline, std::optional<std::size_t> most = {});

// Returns the results of decoder and preprocessor without any pipeline.
std::vector<Delivered> reference(const Setting& setting, std::uint32_t epoch = 0);  // of xrays()
std::vector<Delivered> reference(const dataset::Dataset& files, const Setting& setting);

std::vector<ExampleId> ids(const std::vector<Delivered>& images);
// Returns the image numbers in the order of delivery.
std::vector<std::uint32_t> order(const std::vector<Delivered>& images);
std::vector<Delivered> sorted(std::vector<Delivered> images);

// A list of ops that need not end in batches, driven by the test itself.
class Chain {
 public:
  Chain(const dataset::Dataset& dataset, std::vector<spec::OpSpec> ops, const Setting& setting = {});
  ~Chain();
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch = 0) { return ops_.back()->iterate(epoch, stop_.get_token()); }
  Op& at(std::size_t i) { return *ops_[i]; }
  void stop() { stop_.request_stop(); }

 private:
  spec::PipelineSpec spec_;
  std::stop_source stop_;
  Resources resources_;
  std::vector<std::unique_ptr<Op>> ops_;
};

// Returns the current number of threads of this process.
std::size_t thread_count();

}  // namespace chexbench::pipeline::test
