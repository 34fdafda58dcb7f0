#include "bench/advice/input_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace chexbench::bench {
namespace {

using spec::OpSpec;
using spec::PipelineSpec;

bool decodes(const OpSpec& op) { return op.op == "map" || op.op == "map_and_batch" || op.op == "worker_batches"; }

// Threads of one rank that decode at once; 0 where the thread that asks does it.
int decoding_threads(const OpSpec& op, int cores) {
  if (op.op == "map") {
    const auto calls = static_cast<int>(op.integer("parallel_calls"));
    return calls > 1 ? std::min(calls, cores) : 0;
  }
  if (op.op == "worker_batches" && !op.holds_text("num_workers"))
    return std::min(static_cast<int>(op.integer("num_workers")), cores);
  return cores;
}

bool is(const OpSpec& op, const char* name) { return op.op == name; }

// Seconds of an image, by who spends them.
struct Pace {
  double training_s = 0;   // the thread that trains
  double ahead_s = 0;      // the slowest of the other threads
  double processor_s = 0;  // all of them
};

Pace pace_of(const PipelineSpec& pipeline, int ranks, int cores, const InputCosts& costs) {
  const double amplification = predicted_amplification(pipeline, ranks);
  const std::size_t decoding = decoding_op(pipeline);
  Pace pace;
  double thread_s = 0;  // of the thread that the walk, from source to sink, is on
  for (std::size_t i = 0; i < pipeline.ops.size(); ++i) {
    const OpSpec& op = pipeline.ops[i];
    if (i == decoding) {
      const double decode_s = amplification * (costs.read_s + costs.decode_s);
      const int threads = decoding_threads(op, cores);
      pace.processor_s += decode_s;
      if (threads > 0) {
        pace.ahead_s = std::max({pace.ahead_s, thread_s, decode_s / threads});
        thread_s = 0;
      } else {
        thread_s += decode_s;
      }
    } else if (is(op, "batch")) {
      thread_s += costs.batch_s;
      pace.processor_s += costs.batch_s;
    } else if (is(op, "shuffle")) {
      thread_s += costs.order_s;
      pace.processor_s += costs.order_s;
    } else if (is(op, "prefetch")) {
      pace.ahead_s = std::max(pace.ahead_s, thread_s);
      thread_s = 0;
    }
  }
  pace.training_s = thread_s;
  return pace;
}

}  // namespace

std::size_t decoding_op(const PipelineSpec& pipeline) {
  const auto found = std::ranges::find_if(pipeline.ops, decodes);
  if (found == pipeline.ops.end()) throw std::logic_error("pipeline: no op decodes");
  return static_cast<std::size_t>(found - pipeline.ops.begin());
}

double predicted_amplification(const PipelineSpec& pipeline, int ranks) {
  const auto shard = std::ranges::find(pipeline.ops, "shard", &OpSpec::op);
  const auto place = static_cast<std::size_t>(shard - pipeline.ops.begin());
  return shard != pipeline.ops.end() && place > decoding_op(pipeline) ? ranks : 1;
}

InputCosts measured_costs(const report::TrialResult& trial) {
  InputCosts costs;
  double decoded = 0, trained = 0, wall_s = 0, wait_s = 0;
  for (const report::RepeatResult& repeat : trial.repeats) {
    decoded += static_cast<double>(repeat.images_decoded);
    trained += static_cast<double>(repeat.images_trained);
    for (const report::StepRecord& step : repeat.steps) {
      wall_s += step.timings.wall_s;
      wait_s += step.timings.wait_s;
    }
    for (const measure::OpCounters& op : repeat.ops) {
      const double timed_s = op.read_s + op.parse_s + op.decode_s + op.resize_s;
      costs.read_s += op.read_s + op.parse_s;
      if (timed_s > 0) {
        costs.decode_s += std::max(op.busy_wall_s, timed_s) - op.read_s - op.parse_s;
      } else {
        (op.op == "batch" ? costs.batch_s : costs.order_s) += op.busy_wall_s;
      }
    }
  }
  if (trained <= 0 || decoded <= 0) return {};
  costs.read_s /= decoded;
  costs.decode_s /= decoded;
  costs.order_s /= trained;
  costs.batch_s /= trained;
  if (trial.spec.engine != "none") costs.engine_s = (wall_s - wait_s) / trained;
  return costs;
}

double predicted_images_per_s(const spec::Experiment& experiment, int ranks, int cores_per_rank,
                              const InputCosts& costs) {
  const Pace pace = pace_of(experiment.pipeline, ranks, cores_per_rank, costs);
  const double image_s = std::max({pace.training_s + costs.engine_s, pace.ahead_s, pace.processor_s / cores_per_rank});
  return image_s > 0 ? ranks / image_s : 0;
}

}  // namespace chexbench::bench
