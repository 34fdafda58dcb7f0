#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
namespace {

// Wraps a visitor so that an interval becomes two columns, NAME_low and NAME_high.
template <class Visitor>
auto with_bounds(Visitor& visit) {
  return [&visit](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::optional<measure::Interval>>) {
      visit(fmt::format("{}_low", name), value ? std::optional(value->low) : std::nullopt);
      visit(fmt::format("{}_high", name), value ? std::optional(value->high) : std::nullopt);
    } else {
      visit(std::string(name), value);
    }
  };
}

// Returns the header: experiment, trial, repeat, and the names that `columns(visitor)` visits.
template <class Columns>
std::string header_line(Columns columns) {
  CsvRow row;
  for (const char* name : {"experiment", "trial", "repeat"}) row(name);
  const auto add = [&row](const std::string& name, const auto&) { row(name); };
  columns(with_bounds(add));
  return std::move(row).line();
}

struct Place {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
};

// Returns a row with the values that `columns(visitor)` visits.
template <class Columns>
std::string value_line(const Place& place, Columns columns) {
  CsvRow row;
  row(place.report.experiment);
  row(place.trial.trial);
  row(place.repeat.repeat);
  const auto add = [&row](const std::string&, const auto& value) { row(value); };
  columns(with_bounds(add));
  return std::move(row).line();
}

// Calls `visit(place, epoch)` for every epoch of the report.
template <class Visit>
void for_each_epoch(const results::Report& report, Visit visit) {
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::EpochRecord& epoch : repeat.epochs) visit(Place{report, trial, repeat}, epoch);
    }
  }
}

}  // namespace

std::string epochs_csv(const results::Report& report) {
  std::string lines;
  for_each_epoch(report, [&lines](const Place& place, const results::EpochRecord& epoch) {
    lines += value_line(place, [&epoch](auto&& visit) { results::visit_epoch(visit, epoch); });
  });
  if (lines.empty()) return "";
  return header_line([](auto&& visit) {
           const results::EpochRecord any;
           results::visit_epoch(visit, any);
         }) +
         lines;
}

std::string aurocs_csv(const results::Report& report) {
  const auto columns = [](auto&& visit, int epoch, const results::LabelScore& score) {
    visit("epoch", epoch);
    results::visit_label_score(visit, score);
  };
  std::string lines;
  for_each_epoch(report, [&](const Place& place, const results::EpochRecord& epoch) {
    for (const results::LabelScore& score : epoch.scores) {
      lines += value_line(place, [&](auto&& visit) { columns(visit, epoch.epoch, score); });
    }
  });
  if (lines.empty()) return "";
  return header_line([&columns](auto&& visit) { columns(visit, 0, results::LabelScore{}); }) + lines;
}

}  // namespace chexbench::report
