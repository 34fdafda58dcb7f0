#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
namespace {

using results::Field;

// The columns of what steps waited for because of one part of an op.
constexpr std::array kParts{
    std::pair{"read", Field{"wait_read_s", "s", "part of wait_s: reading"}},
    std::pair{"parse", Field{"wait_parse_s", "s", "part of wait_s: parsing records"}},
    std::pair{"decode", Field{"wait_decode_s", "s", "part of wait_s: decoding images"}},
    std::pair{"resize", Field{"wait_resize_s", "s", "part of wait_s: resizing images"}},
    std::pair{"other", Field{"wait_other_s", "s", "part of wait_s: the rest of an op with parts"}}};

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
void visit_work(Visitor& visit, const OpRow& row) {
  const measure::OpCounters none;
  const measure::OpCounters& op = row.counters != nullptr ? *row.counters : none;
  const double threads_s = op.busy_wall_s + op.blocked_input_s + op.blocked_output_s;
  const auto elements = static_cast<double>(op.elements_out);
  visit(Field{"elements_out", "elements", "files, records, examples or batches that the op delivered"},
        op.elements_out);
  visit(Field{"elements_per_s", "elements/s", "elements_out / wall time of the slowest rank", "no time was measured"},
        ratio(elements, row.repeat.wall_s));
  visit(Field{"busy_wall_s", "s", "time in which threads of the op worked, by the wall clock"}, op.busy_wall_s);
  visit(Field{"busy_cpu_s", "s", "time in which threads of the op worked, on a core"}, op.busy_cpu_s);
  visit(Field{"blocked_input_share", "1", "share of the time of its threads that they waited for the op before",
              "its threads have no time"},
        ratio(op.blocked_input_s, threads_s));
  visit(Field{"blocked_output_share", "1", "share of the time of its threads that they waited for room after them",
              "its threads have no time"},
        ratio(op.blocked_output_s, threads_s));
  visit(Field{"mean_queue_depth", "elements", "elements that were ready when one was asked for, mean over the calls",
              "the op has no queue, or nobody asked"},
        op.queue_capacity > 0 ? ratio(op.queue_depth_sum, elements) : std::nullopt);
  visit(Field{"queue_capacity", "elements", "places of its queue, mean over ranks; 0 without a queue"},
        ratio(static_cast<double>(op.queue_capacity), row.trial.ranks));
  visit(Field{"bytes_held", "bytes", "held in its buffers and queue at the end of the window"}, op.bytes_held);
  visit(Field{"images_held", "images", "decoded images in its buffers and queue at the end of the window"},
        op.images_held);
  visit(Field{"images_decoded", "images", "images that it decoded"}, op.images_decoded);
  visit(Field{"bytes_read", "bytes", "bytes that it read, hits of the page cache included"}, op.bytes_read);
  visit(Field{"read_s", "s", "part of busy_wall_s: reading"}, op.read_s);
  visit(Field{"parse_s", "s", "part of busy_wall_s: parsing records"}, op.parse_s);
  visit(Field{"decode_s", "s", "part of busy_wall_s: decoding images"}, op.decode_s);
  visit(Field{"resize_s", "s", "part of busy_wall_s: resizing images"}, op.resize_s);
  visit(Field{"bad_records", "records", "images or records that could not be read and were skipped"}, op.bad_records);
}

template <class Visitor>
void visit_columns(Visitor& visit, const OpRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(kRepeat, row.repeat.repeat);
  visit(Field{"op_index", "", "position in the pipeline, from 0; -1 for waits that could not be attributed to an op"},
        row.op_index);
  visit(Field{"op", "", "name of the op", "the waits could not be attributed to an op"},
        row.counters != nullptr ? row.counters->op : "");
  visit_work(visit, row);
  visit(Field{"wait_s", "s", "waits of the steps of all ranks that are attributed to the op"}, booked_s(row));
  for (const auto& [part, column] : kParts) visit(column, booked_s(row, part));
  visit(kEmulated, row.trial.emulated);
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

std::vector<Column> ops_columns(const results::Report& report) {
  return columns_of(OpRow{.report = report, .trial = {}, .repeat = {}});
}

std::string ops_csv(const results::Report& report) {
  std::string text = header_line(ops_columns(report));
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) text += repeat_lines(report, trial, repeat);
  }
  return text;
}

namespace {

struct StepRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
  const results::StepRecord& step;
};

template <class Visitor>
void visit_columns(Visitor& visit, const StepRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(kRepeat, row.repeat.repeat);
  results::visit_step(visit, row.step);
  visit(kEmulated, row.trial.emulated);
}

}  // namespace

std::vector<Column> steps_columns(const results::Report& report) {
  return columns_of(StepRow{.report = report, .trial = {}, .repeat = {}, .step = {}});
}

std::string steps_csv(const results::Report& report) {
  std::string text = header_line(steps_columns(report));
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::StepRecord& step : repeat.steps) {
        text += value_line(StepRow{.report = report, .trial = trial, .repeat = repeat, .step = step});
      }
    }
  }
  return text;
}

}  // namespace chexbench::report
