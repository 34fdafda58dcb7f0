#include "report/mllog.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;

struct Line {
  std::int64_t time_ms = 0;
  std::string text;
};

// The lines of one repeat.
class Events {
 public:
  Events(const results::TrialResult& trial, const results::RepeatResult& repeat, std::vector<Line>& lines)
      : metadata_({{"trial", trial.name}, {"repeat", repeat.repeat}, {"emulated", trial.emulated}}), lines_(lines) {}

  void add(double unix_s, const char* type, const char* key, const Json& value, const Json& more = Json::object()) {
    Json metadata = metadata_;
    metadata.update(more);
    const std::int64_t time_ms = std::llround(unix_s * 1000);
    const Json event{{"namespace", "chexbench"}, {"time_ms", time_ms},  {"event_type", type}, {"key", key},
                     {"value", value},           {"metadata", metadata}};
    lines_.push_back({time_ms, ":::MLLOG " + event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"});
  }

 private:
  const Json metadata_;
  std::vector<Line>& lines_;
};

bool computes(const results::TrialResult& trial) { return !trial.emulated && spec::has_engine(trial.spec); }

void add_repeat(const results::TrialResult& trial, const results::RepeatResult& repeat, std::vector<Line>& lines) {
  constexpr const char* kPoint = "POINT_IN_TIME";
  const double start_s = repeat.ended_unix_s - repeat.spent_s;
  Events events(trial, repeat, lines);
  events.add(start_s, kPoint, "submission_benchmark", trial.spec.model.name);
  events.add(start_s, kPoint, "submission_platform", trial.engine_device);
  events.add(start_s, kPoint, "cache_clear", repeat.page_cache == "cold");
  events.add(start_s, kPoint, "seed", trial.spec.model.seed);
  const int accumulate_steps = trial.spec.training.accumulate_steps;
  events.add(start_s, kPoint, "global_batch_size",
             std::int64_t{trial.spec.training.batch_size} * accumulate_steps * trial.ranks);
  events.add(start_s, kPoint, "gradient_accumulation_steps", accumulate_steps);
  if (computes(trial)) {
    events.add(start_s, kPoint, "opt_name", to_string(trial.spec.training.optimizer));
    events.add(start_s, kPoint, "opt_base_learning_rate", trial.spec.training.learning_rate);
  }
  events.add(start_s, "INTERVAL_START", "run_start", nullptr);
  events.add(repeat.ended_unix_s, kPoint, "tracked_stats", {{"throughput", repeat.images_per_s}},
             {{"step", results::measured_steps(trial)}});
  events.add(repeat.ended_unix_s, "INTERVAL_END", "run_stop", nullptr, {{"status", "success"}});
}

}  // namespace

std::string mllog_text(const results::Report& report) {
  std::vector<Line> lines;
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) add_repeat(trial, repeat, lines);
  }
  std::ranges::stable_sort(lines, {}, &Line::time_ms);
  std::string text;
  for (const Line& line : lines) text += line.text;
  return text;
}

}  // namespace chexbench::report
