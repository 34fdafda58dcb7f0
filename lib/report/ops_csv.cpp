#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "report/csv.hpp"
#include "report/csv_row.hpp"

namespace chexbench::report {
namespace {

constexpr std::array kParts{std::pair{"read", "wait_read_s"}, std::pair{"parse", "wait_parse_s"},
                            std::pair{"decode", "wait_decode_s"}, std::pair{"resize", "wait_resize_s"},
                            std::pair{"other", "wait_other_s"}};

// What a row is made from. `counters` is null in the row of waits that could not be attributed to an op.
struct OpRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
  int op_index = 0;
  const measure::OpCounters* counters = nullptr;
};

// Returns the seconds for which steps of all ranks waited because of the op, or because of one part of it if `part` is
// given.
double booked_s(const OpRow& row, const char* part = nullptr) {
  double total_s = 0;
  for (const measure::WaitBooking& booking : row.repeat.waits) {
    if (booking.op_index == row.op_index && (part == nullptr || booking.part == part)) total_s += booking.wait_s;
  }
  return total_s;
}

std::optional<double> ratio(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

template <class Visitor>
void visit_work(Visitor&& visit, const OpRow& row) {
  const measure::OpCounters none;
  const measure::OpCounters& op = row.counters != nullptr ? *row.counters : none;
  const double threads_s = op.busy_wall_s + op.blocked_input_s + op.blocked_output_s;
  const auto elements = static_cast<double>(op.elements_out);
  visit("elements_out", op.elements_out);
  visit("elements_per_s", ratio(elements, row.repeat.wall_s));
  visit("busy_wall_s", op.busy_wall_s);
  visit("busy_cpu_s", op.busy_cpu_s);
  visit("blocked_input_share", ratio(op.blocked_input_s, threads_s));
  visit("blocked_output_share", ratio(op.blocked_output_s, threads_s));
  visit("mean_queue_depth", op.queue_capacity > 0 ? ratio(op.queue_depth_sum, elements) : std::nullopt);
  visit("queue_capacity", ratio(static_cast<double>(op.queue_capacity), row.trial.ranks));
  visit("bytes_held", op.bytes_held);
  visit("images_held", op.images_held);
  visit("images_decoded", op.images_decoded);
  visit("bytes_read", op.bytes_read);
  visit("read_s", op.read_s);
  visit("parse_s", op.parse_s);
  visit("decode_s", op.decode_s);
  visit("resize_s", op.resize_s);
  visit("bad_records", op.bad_records);
}

template <class Visitor>
void visit_columns(Visitor&& visit, const OpRow& row) {
  visit("experiment", row.report.experiment);
  visit("trial", row.trial.trial);
  visit("repeat", row.repeat.repeat);
  visit("op_index", row.op_index);
  visit("op", row.counters != nullptr ? row.counters->op : "");
  visit_work(visit, row);
  visit("wait_s", booked_s(row));
  for (const auto& [part, column] : kParts) visit(column, booked_s(row, part));
  visit("emulated", row.trial.emulated);
}

std::string ops_header() {
  const results::Report report;
  const results::TrialResult trial;
  const results::RepeatResult repeat;
  CsvRow line;
  visit_columns([&line](const char* name, const auto&) { line(name); },
                OpRow{.report = report, .trial = trial, .repeat = repeat});
  return std::move(line).line();
}

std::string value_line(const OpRow& row) {
  CsvRow line;
  visit_columns([&line](const char*, const auto& value) { line(value); }, row);
  return std::move(line).line();
}

std::string repeat_lines(const results::Report& report, const results::TrialResult& trial,
                         const results::RepeatResult& repeat) {
  OpRow row{.report = report, .trial = trial, .repeat = repeat};
  std::string lines;
  for (const measure::OpCounters& counters : repeat.ops) {
    row.counters = &counters;
    lines += value_line(row);
    ++row.op_index;
  }
  const OpRow unknown{.report = report, .trial = trial, .repeat = repeat, .op_index = -1};
  return booked_s(unknown) > 0 ? lines + value_line(unknown) : lines;
}

}  // namespace

std::string ops_csv(const results::Report& report) {
  std::string text = ops_header();
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) text += repeat_lines(report, trial, repeat);
  }
  return text;
}

}  // namespace chexbench::report
