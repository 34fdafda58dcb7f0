#include "verbs/diagnose/foreign/traceml.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"

namespace chexbench::verbs::foreign {
namespace {

constexpr double kFirstSchema = 1.7;  // older ones use other names for times
constexpr double kNextSchema = 2;     // which may be incompatible with 1.x
constexpr double kMostMilliseconds = 1e12;
constexpr int kMostCounted = 1'000'000'000;

}  // namespace

void TraceMlSummary::value(const Place& place, const Scalar& value) {
  if (place.is({"schema_version"}) && std::holds_alternative<double>(value)) schema_ = std::get<double>(value);
  const auto* text = std::get_if<std::string_view>(&value);
  if (text != nullptr && place.is({"lhs", "path"})) compared_ = *text;
  if (place.is({"step_time", "global", "window", "steps_analyzed"}) && value.index() != 0) {
    steps_ = static_cast<std::size_t>(place.whole_number(value, kMostCounted));
  }
  if (!place.is({"step_time", "groups", "rows", "*", "metrics", "*"})) return;
  const std::string& metric = place.key(5);
  if (metric != "input_wait_ms" && metric != "step_time_ms") return;
  const auto rank = parse_number<int>(place.key(3));
  if (!rank || *rank < 0 || *rank > kMostRank) {
    place.fail(fmt::format("'{}' is no number of a rank", printable(place.key(3), 50)));
  }
  Means& means = ranks_[*rank];
  if (ranks_.size() > kMostSteps) place.fail("more ranks than any job has");
  if (value.index() == 0) return;  // null: TraceML did not measure it
  (metric == "input_wait_ms" ? means.wait_ms : means.step_ms) = place.number(value, kMostMilliseconds);
}

void TraceMlSummary::closed(const Place& place) {
  if (place.is({"primary_diagnosis"}) || place.is({"step_time"})) is_summary_ = true;
}

StepLog TraceMlSummary::finish(const std::string& name) const {
  if (!is_summary_) {
    throw DataError(fmt::format(
        "{}: TraceML's comparison of two runs, which has no ranks; give the final_summary.json of one, such "
        "as {}",
        name, printable(compared_, 200)));
  }
  if (*schema_ < kFirstSchema || *schema_ >= kNextSchema) {
    throw DataError(
        fmt::format("{}: it has TraceML's schema_version {}, and this program reads {} to {}.x; write the "
                    "summary again with another version of traceml-ai",
                    name, *schema_, kFirstSchema, kNextSchema - 1));
  }
  if (steps_ == 0 || ranks_.empty()) {
    throw DataError(name + ": step_time has no steps; put traceml.trace_step(model) around each and use `traceml run`");
  }
  StepLog log{.counts_images = false};
  for (const auto& [rank, means] : ranks_) {
    const std::string place = fmt::format("step_time.groups.rows.{}.metrics", rank);
    if (!means.wait_ms || !means.step_ms || *means.step_ms == 0) {
      throw DataError(
          fmt::format("{}: {} has no {}; TraceML has to see the DataLoader and the steps "
                      "(traceml.init(mode=\"auto\") before the loader is made)",
                      name, place, means.wait_ms ? "step_time_ms" : "input_wait_ms"));
    }
    if (*means.wait_ms > *means.step_ms) {
      throw DataError(fmt::format("{}: {}.input_wait_ms is {}, more than step_time_ms, {}, which includes it", name,
                                  place, *means.wait_ms, *means.step_ms));
    }
    log.steps.push_back(
        {.rank = rank, .wait_s = *means.wait_ms / 1e3, .step_s = *means.step_ms / 1e3, .steps = steps_});
  }
  log.notes.emplace_back(
      "From TraceML's summary, which has the mean step of each rank: late single steps and epoch starts are in it.");
  return log;
}

}  // namespace chexbench::verbs::foreign
