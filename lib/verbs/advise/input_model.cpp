#include "verbs/advise/input_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/batch.hpp"
#include "spec/keys.hpp"

namespace chexbench::verbs {
namespace {

using spec::OpSpec;
using spec::PipelineSpec;

// One thread copies decoded images at about this rate, which is below a core's DRAM bandwidth on current servers.
constexpr double kCopyBytesPerS = 4e9;

// Returns how many threads of a rank decode at once; 0 if the thread that asks for the images decodes them.
int decoding_threads(const OpSpec& op, int cores) {
  const std::string& at_once = op.rule().at_once;
  if (at_once.empty()) return cores;
  const auto calls = static_cast<int>(op.integer_or(at_once, cores));
  const bool has_threads = calls > 1 || op.rule().batches();  // a single worker's threads make whole batches
  return has_threads ? std::min(calls, cores) : 0;
}

// Seconds per image, by thread.
struct Pace {
  double training_s = 0;   // of the thread that trains
  double ahead_s = 0;      // of the slowest other thread
  double processor_s = 0;  // CPU seconds of all threads
};

// Goes through the op list from source to sink and adds up the costs.
class Walk {
 public:
  Walk(const PipelineSpec& pipeline, int ranks, int cores, const InputCosts& costs)
      : pipeline_(pipeline),
        amplification_(spec::decodes_before_shard(pipeline) ? ranks : 1),
        cores_(cores),
        costs_(costs) {}

  Pace pace() {
    const std::size_t decoding = decoding_op(pipeline_);
    for (std::size_t i = 0; i < pipeline_.ops.size(); ++i) {
      if (i == decoding) {
        decode(pipeline_.ops[i]);
      } else {
        pass(pipeline_.ops[i], i > decoding);
      }
    }
    pace_.training_s = thread_s_;
    return pace_;
  }

 private:
  void decode(const OpSpec& op) {
    const double decode_s = amplification_ * (costs_.read_s + costs_.decode_s);
    const int threads = decoding_threads(op, cores_);
    if (threads > 0) {
      hand_over();
      pace_.ahead_s = std::max(pace_.ahead_s, decode_s / threads);
      pace_.processor_s += decode_s;
    } else {
      work(decode_s);
    }
  }

  void pass(const OpSpec& op, bool decoded) {
    const spec::OpRule& rule = op.rule();
    if (rule.batches()) {
      work(costs_.batch_s > 0 ? costs_.batch_s : costs_.copy_s);
    } else if (rule.shuffles) {
      work(costs_.order_s);
    } else if (rule.runs_ahead) {
      hand_over();
    } else if (rule.reads()) {
      read(op);
    } else if (rule.caches && decoded) {
      thread_s_ = 0;
      pace_ = {};  // the ops before the cache are idle
      work(costs_.copy_s);
    }
  }

  void read(const OpSpec& op) {
    const std::string& at_once = op.rule().at_once;
    const double files_at_once = at_once.empty() ? 1 : static_cast<double>(op.integer_or(at_once, 10));
    const bool apart = op.flag("parallel") == true;
    pace_.processor_s += amplification_ * costs_.stream_cpu_s;
    if (apart) {
      pace_.ahead_s = std::max(pace_.ahead_s, amplification_ * costs_.stream_s / files_at_once);
    } else {
      thread_s_ += amplification_ * costs_.stream_s;
    }
  }

  void work(double time_s) {
    thread_s_ += time_s;
    pace_.processor_s += time_s;
  }

  // Work past this point is on another thread.
  void hand_over() {
    pace_.ahead_s = std::max(pace_.ahead_s, thread_s_);
    thread_s_ = 0;
  }

  const PipelineSpec& pipeline_;
  const double amplification_;  // images decoded by a rank for each that it trains on
  const int cores_;
  const InputCosts& costs_;
  double thread_s_ = 0;  // seconds per image of the current thread
  Pace pace_;
};

}  // namespace

std::size_t decoding_op(const PipelineSpec& pipeline) {
  const auto found = std::ranges::find_if(pipeline.ops, [](const OpSpec& op) { return op.rule().decodes(); });
  if (found == pipeline.ops.end()) throw std::logic_error("pipeline: no op decodes");
  return static_cast<std::size_t>(found - pipeline.ops.begin());
}

std::size_t image_bytes(const spec::TrialSpec& trial) {
  return BatchShape{.images = 1,
                    .height = trial.model.image_size,
                    .width = trial.model.image_size,
                    .deliver = spec::delivered(trial.data)}
      .image_bytes();
}

InputCosts measured_costs(const results::TrialResult& trial) {
  InputCosts costs;
  double decoded = 0, trained = 0, wall_s = 0, wait_s = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    decoded += static_cast<double>(repeat.images_decoded);
    trained += static_cast<double>(repeat.images_trained);
    for (const results::StepRecord& step : repeat.steps) {
      wall_s += step.timings.wall_s;
      wait_s += step.timings.wait_s;
    }
    for (const measure::OpCounters& op : repeat.ops) {
      const spec::OpRule& rule = spec::rule_or_none(op.op);
      if (rule.reads()) {
        costs.stream_s += op.busy_wall_s;
        costs.stream_cpu_s += op.busy_cpu_s;
        continue;
      }
      const double timed_s = op.read_s + op.parse_s + op.decode_s + op.resize_s;
      costs.read_s += op.read_s + op.parse_s;
      if (timed_s > 0) {
        costs.decode_s += std::max(op.busy_wall_s, timed_s) - op.read_s - op.parse_s;
      } else {
        (rule.batches() ? costs.batch_s : costs.order_s) += op.busy_wall_s;
      }
    }
  }
  if (trained <= 0 || decoded <= 0) return {};
  costs.stream_s /= decoded;
  costs.stream_cpu_s /= decoded;
  costs.read_s /= decoded;
  costs.decode_s /= decoded;
  costs.order_s /= trained;
  costs.batch_s /= trained;
  costs.copy_s = static_cast<double>(image_bytes(trial.spec)) / kCopyBytesPerS;
  if (spec::has_engine(trial.spec)) costs.engine_s = (wall_s - wait_s) / trained;
  return costs;
}

double predicted_images_per_s(const spec::TrialSpec& experiment, int ranks, int cores_per_rank,
                              const InputCosts& costs) {
  const Pace pace = Walk(experiment.pipeline, ranks, cores_per_rank, costs).pace();
  const double image_s = std::max({pace.training_s + costs.engine_s, pace.ahead_s, pace.processor_s / cores_per_rank});
  return image_s > 0 ? ranks / image_s : 0;
}

}  // namespace chexbench::verbs
