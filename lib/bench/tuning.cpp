#include "bench/tuning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "bench/stopping.hpp"
#include "bench/trial_data.hpp"
#include "core/clock.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "pipeline/pipeline.hpp"
#include "spec/keys.hpp"

namespace chexbench::bench {
namespace {

constexpr int kClearRounds = 2;  // suffice for a value that leads by more than kClear in each
constexpr double kClear = 0.3;
constexpr double kScatter = 0.1;  // the windows of a value differ by more than this
// Shuffle buffer of the tried pipelines: minimal, because filling a large one does not help to compare values.
constexpr std::int64_t kShuffled = 1;

spec::PipelineSpec with_small_shuffles(spec::PipelineSpec pipeline) {
  bool reads = false;
  for (spec::OpSpec& op : pipeline.ops) {
    reads = reads || op.rule().in == spec::ElementKind::file;
    if (op.rule().shuffles && reads) op.parameters["buffer"] = kShuffled;
  }
  return pipeline;
}

class Tuner {
 public:
  Tuner(const TrialContext& context, const TuningPlan& plan)
      : context_(context), plan_(plan), ranks_(context.communicator), spec_(context.spec) {
    spec_.pipeline = with_small_shuffles(spec_.pipeline);
    spec_.measure.attribution = false;
  }

  std::vector<results::OpTuning> run(const std::string& trial) {
    std::vector<results::OpTuning> tunings;
    for (const pipeline::Tunable& tunable : pipeline::tunables(pipeline_context())) {
      tunings.push_back(tune(tunable, trial));
      tuned_[tunable.op_index] = tunings.back().value;
    }
    return tunings;
  }

 private:
  pipeline::PipelineContext pipeline_context() const {
    return make_pipeline_context(
        spec_, context_.dataset, context_.engine.allocator(),
        {.rank = ranks_.rank(), .world = ranks_.world(), .cores = context_.cores, .tuned = tuned_});
  }

  results::OpTuning tune(const pipeline::Tunable& tunable, const std::string& trial) {
    results::OpTuning tuning{.op_index = static_cast<int>(tunable.op_index),
                             .op = tunable.op,
                             .parameter = tunable.parameter,
                             .value = tunable.start,
                             .reason = tunable.why_fixed,
                             .points = {}};
    if (tunable.values.size() < 2) return tuning;
    ranks_.enter({.what = fmt::format("finds {}.{} of '{}'", tunable.op, tunable.parameter, trial)});
    rates_.clear();
    begin_s_ = now_s();
    const FoundValue found = find_value(tunable.values, tunable.start, [&](std::int64_t candidate, std::int64_t other) {
      return compare(tunable, candidate, other);
    });
    tuning.value = found.value;
    tuning.reason = found.reason;
    for (const auto& [value, gain] : found.points) {
      if (rates_[value].empty()) continue;  // the start, if there was no time to try anything
      tuning.points.push_back({.value = value, .images_per_s = std::ranges::max(rates_[value]), .gain = gain});
    }
    if (ranks_.rank() == 0)
      log::info("{}: {}.{} is {}: {}", trial, tuning.op, tuning.parameter, tuning.value, tuning.reason);
    return tuning;
  }

  // A value is as fast as its best window, because other load on the machine only slows windows down. Only the windows
  // of this comparison count: the best of more windows is better by chance, and the reference has had more.
  std::optional<TwoRates> compare(const pipeline::Tunable& tunable, std::int64_t candidate, std::int64_t reference) {
    std::vector<double> ours, theirs;
    const auto is_enough = [&] {
      const auto rounds = static_cast<int>(ours.size());
      return rounds >= plan_.most_rounds || (rounds >= plan_.rounds && !scatters(ours) && !scatters(theirs)) ||
             (rounds >= kClearRounds && std::ranges::min(ours) > (1 + kClear) * std::ranges::max(theirs));
    };
    do {
      const std::optional<double> one = rate_with(tunable, candidate);
      const std::optional<double> other = rate_with(tunable, reference);
      if (!one || !other) break;
      ours.push_back(*one);
      theirs.push_back(*other);
    } while (!is_enough());
    if (ours.empty()) return {};
    return TwoRates{std::ranges::max(ours), std::ranges::max(theirs)};
  }

  static bool scatters(const std::vector<double>& rates) {
    const auto [least, most] = std::ranges::minmax(rates);
    return most > (1 + kScatter) * least;
  }

  // Returns the images/s of all ranks with this value, or nothing if the time is up. The result is the same on every
  // rank.
  std::optional<double> rate_with(const pipeline::Tunable& tunable, std::int64_t value) {
    tuned_[tunable.op_index] = value;
    ranks_.barrier();
    const std::int64_t ahead = pipeline::images_read_ahead(pipeline_context(), tunable, value);
    std::array<double, 2> sums = {window({.window_s = plan_.window_s, .images_ahead = ahead}), now_s() - begin_s_};
    ranks_.all_reduce_sum(sums);
    if (sums[1] > plan_.most_s * ranks_.world() || sums[0] <= 0) return {};
    rates_[value].push_back(sums[0]);
    return sums[0];
  }

  // Runs a new pipeline on this rank, and returns its images/s. The end of the pipeline ends the window.
  double window(const WindowPlan& plan) const {
    const auto pipeline = pipeline::make_pipeline(pipeline_context());
    const InterruptWatch watch(*pipeline, context_.stop_at_s);
    RateWindow window(plan, now_s());
    while (true) {
      const BatchLease batch = pipeline->next();
      const double arrived_s = now_s();
      throw_if_interrupted();
      if (context_.stop_at_s && arrived_s >= *context_.stop_at_s) throw TimeIsUp();
      if (!batch) return window.end(arrived_s);
      if (const std::optional<double> rate = window.take(batch->valid, arrived_s)) return *rate;
    }
  }

  const TrialContext& context_;
  const TuningPlan& plan_;
  comm::Communicator& ranks_;
  spec::TrialSpec spec_;
  pipeline::TunedValues tuned_;
  std::map<std::int64_t, std::vector<double>> rates_;  // of the values of one parameter
  double begin_s_ = 0;
};

}  // namespace

std::vector<results::OpTuning> tune_input(const TrialContext& context, const std::string& trial,
                                          const TuningPlan& plan) {
  return Tuner(context, plan).run(trial);
}

bool has_auto(const spec::TrialSpec& spec) {
  return spec::uses_pipeline(spec) && std::ranges::any_of(spec.pipeline.ops, spec::parameter_to_tune);
}

pipeline::TunedValues values_of(const std::vector<results::OpTuning>& tunings) {
  pipeline::TunedValues values;
  for (const results::OpTuning& tuning : tunings) values[static_cast<std::size_t>(tuning.op_index)] = tuning.value;
  return values;
}

namespace {

constexpr double kNoise = 0.02;        // of the best rate: less than this is no gain and no loss
constexpr int kStepsWithoutGain = 2;   // that end the climb: a single one may be bad luck, or too small to tell
constexpr std::size_t kMostShown = 2;  // of the larger values, in a reason

class Search {
 public:
  Search(std::span<const std::int64_t> values, std::int64_t start, const CompareValues& compare)
      : values_(values), compare_(compare), start_(std::ranges::find(values, start) - values.begin()), best_(start) {
    rates_[start] = 1;
  }

  FoundValue run() {
    climb();
    const bool start_is_best = best_ == values_[static_cast<std::size_t>(start_)];
    if (start_is_best) descend();
    return choose();
  }

 private:
  // Compares `value` with the best one so far. Returns the ratio of its rate to the best, or 0 if the time is up.
  double attempt(std::int64_t value) {
    const std::optional<TwoRates> rates = compare_(value, best_);
    if (!rates) {
      out_of_time_ = true;
      return 0;
    }
    const double ratio = rates->candidate / rates->reference;
    rates_[value] = ratio * rates_.at(best_);
    if (ratio >= 1 + kNoise) best_ = value;
    return ratio;
  }

  void climb() {
    int without_gain = 0;
    for (auto i = start_ + 1; i < std::ssize(values_) && without_gain < kStepsWithoutGain; ++i) {
      const double ratio = attempt(values_[static_cast<std::size_t>(i)]);
      if (out_of_time_) return;
      without_gain = ratio >= 1 + kNoise ? 0 : without_gain + 1;
    }
  }

  void descend() {
    for (auto i = start_ - 1; i >= 0; --i) {
      const double ratio = attempt(values_[static_cast<std::size_t>(i)]);
      if (out_of_time_ || ratio < 1 - kNoise) return;
    }
  }

  FoundValue choose() const {
    const double enough = rates_.at(best_) * (1 - kNoise);
    const std::int64_t start = values_[static_cast<std::size_t>(start_)];
    const std::int64_t least = best_ < start ? values_.front() : start;
    const auto chosen =
        std::ranges::find_if(rates_, [&](const auto& point) { return point.first >= least && point.second >= enough; });
    FoundValue found{.value = chosen->first, .reason = "", .points = {}};
    for (const auto& [value, rate] : rates_) found.points.push_back({.value = value, .gain = rate / chosen->second});
    found.reason = reason_of(found);
    return found;
  }

  static std::string effect(const FoundValue::Point& point) {
    const double percent = 100 * (point.gain - 1);
    return fmt::format("{} {} {:.1f} %", point.value, percent < 0 ? "lost" : "added", std::abs(percent));
  }

  // Describes the results of the values next to the chosen one.
  std::string reason_of(const FoundValue& found) const {
    std::vector<std::string> words;
    const auto above = std::ranges::upper_bound(found.points, found.value, {}, &FoundValue::Point::value);
    const auto chosen = std::prev(above);
    for (auto point = above; point != found.points.end() && words.size() < kMostShown; ++point)
      words.push_back(effect(*point));
    if (chosen != found.points.begin()) words.push_back(effect(*std::prev(chosen)));
    if (found.value == values_.back()) words.emplace_back("no more are tried");
    if (out_of_time_) words.emplace_back("then the time for trying was up");
    return fmt::format("{}", fmt::join(words, ", "));
  }

  const std::span<const std::int64_t> values_;
  const CompareValues& compare_;
  const std::ptrdiff_t start_;
  std::int64_t best_;
  // The rates of the tried values, relative to the start's: ratios of alternating measurements, because rates measured
  // minutes apart also reflect other load on the machine.
  std::map<std::int64_t, double> rates_;
  bool out_of_time_ = false;
};

}  // namespace

FoundValue find_value(std::span<const std::int64_t> values, std::int64_t start, const CompareValues& compare) {
  return Search(values, start, compare).run();
}

namespace {

double rate(std::int64_t images, double time_s) { return time_s > 0 ? static_cast<double>(images) / time_s : 0; }

}  // namespace

std::optional<double> RateWindow::take(std::int64_t images, double arrived_s) {
  constexpr int kBatchesBefore = 2, kBatches = 4;
  ++batches_;
  if (!is_open_) {
    images_before_ += images;
    if (batches_ < kBatchesBefore || images_before_ < plan_.images_ahead) return {};
    is_open_ = true;
    open_s_ = arrived_s;
    batches_ = 0;
    return {};
  }
  images_ += images;
  const double lasted_s = arrived_s - open_s_;
  if (batches_ < kBatches || images_ < plan_.images_ahead || lasted_s < plan_.window_s) return {};
  return rate(images_, lasted_s);
}

double RateWindow::end(double now_s) const {
  return images_ > 0 ? rate(images_, now_s - open_s_) : rate(images_before_, now_s - begin_s_);
}

}  // namespace chexbench::bench
