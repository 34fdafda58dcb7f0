// The public interface of lib/pipeline: an input pipeline is a list of ops that runs on its own threads and delivers
// batches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/allocator.hpp"
#include "core/batch.hpp"
#include "dataset/dataset.hpp"
#include "measure/wait_book.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::pipeline {

// The values found for parameters that are "auto", by the op's index in the list.
using TunedValues = std::map<std::size_t, std::int64_t>;

// Everything needed to build a pipeline. `dataset`, `pipeline` and `allocator` must outlive the pipeline, and
// `allocator` also the leases that it gave out.
struct PipelineContext {
  const dataset::Dataset& dataset;
  const spec::PipelineSpec& pipeline;  // the op list
  spec::DataSpec data;
  spec::PreprocessSpec preprocess;
  BatchShape shape;            // of the batches; `images` is the local batch
  PinnedAllocator& allocator;  // for batch memory
  int rank = 0;
  int world = 1;
  std::uint64_t seed = 1;
  bool timed = true;              // if false, ops book no busy and blocked times; counts and the times of parts remain
  bool exclusive_labels = false;  // ready-made batches have one label an image (training.task classes)
  bool augments = true;           // random flip and crop as in `preprocess`; if false, no flip and a central crop
  std::vector<int> cores;  // threads are bound to these, with one decode worker per core; empty: one worker, not bound
  TunedValues tuned;       // of parameters that are "auto"; one that is missing has its Tunable::start
};

// An op's parameter that is found by measuring (the spec has "auto"): parallel_calls or cycle_length. Its value changes
// neither the order of elements nor a bit of them.
struct Tunable {
  std::size_t op_index = 0;  // in the op list
  std::string op;
  std::string parameter;
  std::vector<std::int64_t> values;  // those to choose from, ascending; one if there is nothing to choose
  std::int64_t start = 1;            // one of the values: used until something was measured
  std::string why_fixed;             // why there is nothing to choose; else empty
};

// Returns the parameters that are "auto", in the order of the op list.
std::vector<Tunable> tunables(const PipelineContext& context);

// Returns how many of a rank's images are in the files that an op with this value opens ahead of delivery: from the
// page cache a few records, over a network also ranges that have arrived. 0 for ops that read no files.
std::int64_t images_read_ahead(const PipelineContext& context, const Tunable& tunable, std::int64_t value);

// A pipeline that runs. Typical use:
//   const auto pipeline = make_pipeline(context);
//   while (const BatchLease batch = pipeline->next()) train(*batch);
class Pipeline {
 public:
  // Stops and joins every thread. Leases that the caller still holds stay valid.
  virtual ~Pipeline() = default;
  // Waits for the next batch and returns it; images 0..valid-1 are filled. Returns an empty lease at the end of a
  // finite pipeline, after stop() and after an error. Only one thread at a time may call it. A caller that holds more
  // than two leases may wait until it releases one.
  // @throws DataError if a record is bad (on_bad_record = stop) or two epochs of records in a row are bad (skip), if a
  // shard or a decoder is missing, or if an epoch that is repeated has no element
  // @throws OutputError if a cache cannot write its file
  // @throws DeviceError or std::bad_alloc if memory for a batch or an image cannot be allocated
  // @throws std::system_error if the system does not start a thread
  virtual BatchLease next() = 0;
  // Makes next() and all threads end soon. Returns without waiting. Thread-safe.
  virtual void stop() = 0;
  // Returns one entry per op, in the order of the list. Thread-safe, and cheap enough to be called once per step.
  virtual std::vector<measure::OpCounters> counters() const = 0;
};

// Builds a pipeline and starts its threads. For data.format ready, see builder.hpp.
// @throws SpecError if the op list cannot work
// @throws DataError if there are more ranks than files to shard, or if the decoder that the spec asks for is missing
// @throws OutputError if a cache cannot create its file
// @throws DeviceError or std::bad_alloc if memory for a ready-made batch cannot be allocated
// @throws std::system_error if the system does not start a thread
std::unique_ptr<Pipeline> make_pipeline(const PipelineContext& context);

// An estimate of the anonymous memory that a pipeline will hold, for --dry-run. An op has one line for each kind of
// memory.
struct MemoryForecast {
  struct Bytes {
    std::uint64_t full = 0;     // all buffers are full: the consumer is slower than the pipeline
    std::uint64_t starved = 0;  // the consumer takes every batch as soon as it is ready
  };
  struct Line {
    std::string op;
    std::string what;  // the parts of `full`: "500 records x 0.42 MB"
    Bytes bytes;
  };
  std::vector<Line> lines;
  Bytes total;  // the sum of the lines
};
// Builds the ops without running them and adds up their memory, with the mean size of the files for each record.
// @throws SpecError if the op list cannot work
// @throws DataError if there are more ranks than files to shard
MemoryForecast forecast_memory(const PipelineContext& context);

}  // namespace chexbench::pipeline
