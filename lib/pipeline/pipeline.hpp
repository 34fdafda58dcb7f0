// An input pipeline: a list of ops, running on its own threads, that delivers batches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/allocator.hpp"
#include "core/batch.hpp"
#include "dataset/dataset.hpp"
#include "measure/op_counters.hpp"
#include "spec/experiment.hpp"

namespace chexbench::pipeline {

// Everything outside the op list that a pipeline depends on. References must outlive the pipeline.
struct PipelineContext {
  const dataset::Dataset& dataset;
  const spec::PipelineSpec& pipeline;
  spec::DataSpec data;
  spec::PreprocessSpec preprocess;
  BatchShape shape;            // images = local batch
  PinnedAllocator& allocator;  // for batch memory
  int rank = 0;
  int world = 1;
  std::uint64_t seed = 1;
  bool timed = true;       // ops book times; else counts alone
  bool augments = true;    // images are flipped and cropped as preprocess says; else they are seen in the middle
  std::vector<int> cores;  // worker threads are bound to these; one pool worker a core
};

class Pipeline {
 public:
  // Stops and joins every thread. Leases still out stay valid.
  virtual ~Pipeline() = default;
  // The next batch; waits for it. An empty lease at the end of a finite pipeline, or after stop().
  // @throws DataError for a bad record (on_bad_record = stop). One caller at a time.
  virtual BatchLease next() = 0;
  // Ends next() and all threads soon; thread-safe, returns without waiting.
  virtual void stop() = 0;
  // One entry per op, in the order of the list. Thread-safe, cheap enough for once a step.
  virtual std::vector<measure::OpCounters> counters() const = 0;
};

// Builds and starts a pipeline. @throws SpecError for an op list that cannot work, DataError: more ranks than files
std::unique_ptr<Pipeline> make_pipeline(const PipelineContext& context);

// Anonymous memory that the pipeline will hold, in bytes, per op; for --dry-run. Uses mean file size.
struct MemoryForecast {
  struct Bytes {
    std::uint64_t full = 0;     // all buffers are full: whoever takes the batches is slower than the pipeline
    std::uint64_t starved = 0;  // every batch is taken at once
  };
  struct Line {
    std::string op;
    std::string what;  // "500 records x 420 KB", when full
    Bytes bytes;
  };
  std::vector<Line> lines;
  Bytes total;
};
MemoryForecast forecast_memory(const PipelineContext& context);

}  // namespace chexbench::pipeline
