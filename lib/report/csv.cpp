#include "report/csv.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "report/swept_keys.hpp"
#include "results/gpu_summary.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order below, for human readers

// Returns a column's name as CSVW accepts it, with the brackets of "pipeline.shuffle[1].buffer" escaped.
std::string csvw_name(const std::string& name) {
  std::string escaped;
  for (const char c : name) escaped += c == '[' ? "%5B" : c == ']' ? "%5D" : std::string(1, c);
  return escaped;
}

std::string sentences(const Column& column) {
  std::string text = column.meaning + '.';
  if (text.find('_') >= text.find(' ')) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return column.empty_if.empty() ? text : text + " Empty if " + column.empty_if + '.';
}

Json column_to_json(const Column& column) {
  Json object = {{"name", csvw_name(column.name)},
                 {"titles", column.name},
                 {"dc:description", sentences(column)},
                 {"datatype", column.datatype}};
  if (!column.unit.empty()) object["schema:unitText"] = column.unit;
  object["required"] = column.empty_if.empty();
  return object;
}

// A report and its figures with a row in each file, from which the columns are taken.
const analysis::Evaluation& one_of_each() {
  static const results::Report kReport = [] {
    results::RepeatResult repeat{.wall_s = 1};
    repeat.steps = {{.timings = {.wall_s = 1, .wait_s = 1, .end_s = 1}}};
    repeat.ops = {{.op = "map"}};
    repeat.waits = {{.op_index = 0, .op = "map", .wait_s = 1}};
    repeat.gpus = {{.samples = {{.time_s = 0.5, .throttle_reasons = std::vector<std::string>{"sw_power_cap"}}}}};
    repeat.epochs = {{.scores = {{}}, .curves = {{}}}};
    results::Report report;
    report.trials = {{.notes = {""}, .repeats = {repeat}}};
    return report;
  }();
  static const analysis::Evaluation kEvaluation(kReport);
  return kEvaluation;
}

std::vector<Column> columns_of(const CsvFile& file, const results::Report& report) {
  CsvTable table;
  file.add_rows(table, one_of_each());
  return file.has_settings ? with_swept_keys(table.columns(), report) : table.columns();
}

Json file_to_json(const CsvFile& file, const results::Report& report) {
  Json columns = Json::array();
  for (const Column& column : columns_of(file, report)) columns.push_back(column_to_json(column));
  return {{"url", file.name},
          {"dc:description", std::string(file.rows) + '.'},
          {"tableSchema", {{"columns", std::move(columns)}}}};
}

using results::Field;

// The repeat that a row belongs to.
struct Place {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
};

void begin_row(CsvTable& table, const results::Report& report, const results::TrialResult& trial) {
  table(Field{"experiment", "", "name of the experiment"}, report.experiment);
  table(Field{"trial", "", "name of the trial: what distinguishes it from the other trials"}, trial.name);
}

void begin_row(CsvTable& table, const Place& place) {
  begin_row(table, place.report, place.trial);
  table(Field{"repeat", "", "number of the repeat, from 0"}, place.repeat.repeat);
}

// Calls `add(place)` for each repeat of the report.
template <class Add>
void for_each_repeat(const results::Report& report, Add add) {
  for (const results::TrialResult& trial : report.trials)
    for (const results::RepeatResult& repeat : trial.repeats) add(Place{report, trial, repeat});
}

// The columns of the waits because of one part of an op.
constexpr std::array kParts{
    std::pair{"read", Field{"wait_read_s", "s", "part of wait_s: reading"}},
    std::pair{"parse", Field{"wait_parse_s", "s", "part of wait_s: parsing records"}},
    std::pair{"decode", Field{"wait_decode_s", "s", "part of wait_s: decoding images"}},
    std::pair{"resize", Field{"wait_resize_s", "s", "part of wait_s: resizing images"}},
    std::pair{"other", Field{"wait_other_s", "s", "part of wait_s: the rest of an op with parts"}}};

// Returns the seconds for which steps of all ranks waited because of the op, or because of one part of it if `part` is
// given.
double booked_s(const results::RepeatResult& repeat, int op_index, const char* part = nullptr) {
  double total_s = 0;
  for (const measure::WaitBooking& booking : repeat.waits) {
    if (booking.op_index == op_index && (part == nullptr || booking.part == part)) total_s += booking.wait_s;
  }
  return total_s;
}

std::optional<double> ratio(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

void add_work(CsvTable& table, const Place& place, const measure::OpCounters& op) {
  const double threads_s = op.busy_wall_s + op.blocked_input_s + op.blocked_output_s;
  const auto elements = static_cast<double>(op.elements_out);
  table(Field{"elements_out", "elements", "files, records, examples or batches delivered"}, op.elements_out);
  table(Field{"elements_per_s", "elements/s", "elements_out / wall time of the slowest rank", "no time was measured"},
        ratio(elements, place.repeat.wall_s));
  table(Field{"busy_wall_s", "s", "wall time in which its threads worked"}, op.busy_wall_s);
  table(Field{"busy_cpu_s", "s", "CPU time in which its threads worked"}, op.busy_cpu_s);
  table(Field{"blocked_input_share", "1", "share of its threads' time: waiting for the op before",
              "its threads have no time"},
        ratio(op.blocked_input_s, threads_s));
  table(Field{"blocked_output_share", "1", "share of its threads' time: waiting for room in its queue",
              "its threads have no time"},
        ratio(op.blocked_output_s, threads_s));
  table(Field{"mean_queue_depth", "elements", "ready elements when one was asked for, mean over calls",
              "the op has no queue, or nobody asked"},
        op.queue_capacity > 0 ? ratio(op.queue_depth_sum, elements) : std::nullopt);
  table(Field{"queue_capacity", "elements", "places of its queue, mean over ranks; 0 without a queue"},
        ratio(static_cast<double>(op.queue_capacity), place.trial.ranks));
  table(Field{"bytes_held", "bytes", "held in buffers and queue at the end of the window"}, op.bytes_held);
  table(Field{"images_held", "images", "decoded images held there at that time"}, op.images_held);
  table(Field{"images_decoded", "images", "images that it decoded"}, op.images_decoded);
  table(Field{"bytes_read", "bytes", "bytes that it read, also from the page cache"}, op.bytes_read);
  table(Field{"read_s", "s", "part of busy_wall_s: reading"}, op.read_s);
  table(Field{"parse_s", "s", "part of busy_wall_s: parsing records"}, op.parse_s);
  table(Field{"decode_s", "s", "part of busy_wall_s: decoding images"}, op.decode_s);
  table(Field{"resize_s", "s", "part of busy_wall_s: resizing images"}, op.resize_s);
  table(Field{"bad_records", "records", "unreadable images or records, which were skipped"}, op.bad_records);
}

void add_op(CsvTable& table, const Place& place, int op_index, const measure::OpCounters& op) {
  begin_row(table, place);
  table(Field{"op_index", "", "position in the pipeline, from 0; -1 for waits of unknown cause"}, op_index);
  table(Field{"op", "", "name of the op", "op_index is -1"}, op.op);
  add_work(table, place, op);
  table(Field{"wait_s", "s", "wait_s of the steps of all ranks that is attributed to the op"},
        booked_s(place.repeat, op_index));
  for (const auto& [part, column] : kParts) table(column, booked_s(place.repeat, op_index, part));
  table(kEmulated, place.trial.emulated);
  table.end_row();
}

// Adds a row for each point or bin of a label's curve, started by `begin` and visited by `visit`.
template <class Begin, class Visit>
void add_curve(CsvTable& table, const results::LabelCurves& label, std::size_t points, Begin begin, Visit visit) {
  for (std::size_t point = 0; point < points; ++point) {
    begin();
    visit(table, label, point);
    table.end_row();
  }
}

constexpr auto kAddRoc = [](CsvTable& table, const results::LabelCurves& label, auto begin) {
  add_curve(table, label, measure::kRocPoints, begin, results::visit_roc_point<CsvTable&>);
};
constexpr auto kAddReliability = [](CsvTable& table, const results::LabelCurves& label, auto begin) {
  add_curve(table, label, measure::kReliabilityBins, begin, results::visit_reliability_bin<CsvTable&>);
};

template <class AddLabel>
std::string curves_csv(const std::vector<results::LabelCurves>& labels, AddLabel add_label) {
  CsvTable table, any;
  add_label(any, {}, [] {});
  for (const results::LabelCurves& label : labels) add_label(table, label, [] {});
  return header_line(any.columns()) + table.lines();
}

template <class AddLabel>
void add_curves(CsvTable& table, const analysis::Evaluation& evaluation, AddLabel add_label) {
  for_each_repeat(evaluation.report, [&](const Place& place) {
    for (const results::EpochRecord& epoch : place.repeat.epochs) {
      const auto begin = [&] {
        begin_row(table, place);
        table(Field{"epoch", "", "best epoch of the repeat"}, epoch.epoch);
      };
      for (const results::LabelCurves& label : epoch.curves) add_label(table, label, begin);
    }
  });
}

// Calls `add(begin, sample)` for every sample of the report; begin() starts a row.
template <class Add>
void for_each_sample(CsvTable& table, const results::Report& report, Add add) {
  for_each_repeat(report, [&](const Place& place) {
    for (const results::GpuSeries& gpu : place.repeat.gpus) {
      const auto begin = [&] {
        begin_row(table, place);
        table(Field{"rank", "", "rank whose GPU was sampled"}, gpu.rank);
      };
      for (const measure::GpuSample& sample : gpu.samples) add(begin, sample);
    }
  });
}

void add_ops(CsvTable& table, const analysis::Evaluation& evaluation) {
  for_each_repeat(evaluation.report, [&table](const Place& place) {
    int op_index = 0;
    for (const measure::OpCounters& op : place.repeat.ops) add_op(table, place, op_index++, op);
    if (booked_s(place.repeat, -1) > 0) add_op(table, place, -1, {});
  });
}

void add_steps(CsvTable& table, const analysis::Evaluation& evaluation) {
  for_each_repeat(evaluation.report, [&table](const Place& place) {
    for (const results::StepRecord& step : place.repeat.steps) {
      begin_row(table, place);
      visit_fields(table, step);
      table(kEmulated, place.trial.emulated);
      table.end_row();
    }
  });
}

void add_repeats(CsvTable& table, const analysis::Evaluation& evaluation) {
  const std::vector<std::string> swept = swept_keys(evaluation.report.trials);
  for_each_repeat(evaluation.report, [&](const Place& place) {
    add_arm(table, place.report, place.trial);
    visit_fields(table, place.repeat);
    table(Field{"disturbed", "",
                "other processes used over 10 % of the ranks' cores or time, or cores left their CPU mask"},
          results::is_disturbed(place.repeat));
    table(kCoresPerRank, place.trial.cores_per_rank);
    table(kEmulated, place.trial.emulated);
    for (const std::string& key : swept) table.add_cell(setting_of(place.trial.spec, key));
    table.end_row();
  });
}

void add_waits(CsvTable& table, const analysis::Evaluation& evaluation) {
  for (std::size_t i = 0; i < evaluation.figures.size(); ++i) {
    const results::TrialResult& trial = evaluation.report.trials[i];
    for (const results::WaitShare& wait : evaluation.figures[i].waits) {
      begin_row(table, evaluation.report, trial);
      table(Field{"op_index", "", "position in the pipeline, from 0"}, wait.op_index);
      table(Field{"op", "", "name of the op"}, wait.op);
      table(Field{"part", "", "part of the op: read, parse, decode, resize or other",
                  "the op has no parts, or none of them was at work"},
            wait.part);
      table(Field{"wait_share", "1", "waits for this part / wall time of the steps, over all ranks"}, wait.share);
      table(kEmulated, trial.emulated);
      table.end_row();
    }
  }
}

void add_throttle(CsvTable& table, const analysis::Evaluation& evaluation) {
  for (const results::TrialResult& trial : evaluation.report.trials) {
    for (const measure::ThrottleShare& reason : results::summarize_gpus(trial).throttle) {
      begin_row(table, evaluation.report, trial);
      table(Field{"reason", "", "why clocks were not at their highest, in nvidia-smi's words"}, reason.word);
      table(Field{"share", "1", "share of samples that had it, mean over GPUs and repeats"}, reason.share);
      table.end_row();
    }
  }
}

void add_notes(CsvTable& table, const analysis::Evaluation& evaluation) {
  for (const results::TrialResult& trial : evaluation.report.trials) {
    for (const std::string& note : trial.notes) {
      begin_row(table, evaluation.report, trial);
      table(Field{"note", "", "a sentence about how the trial was measured"}, note);
      table.end_row();
    }
  }
}

void add_epochs(CsvTable& table, const analysis::Evaluation& evaluation) {
  for_each_repeat(evaluation.report, [&table](const Place& place) {
    for (const results::EpochRecord& epoch : place.repeat.epochs) {
      begin_row(table, place);
      visit_fields(table, epoch);
      table.end_row();
    }
  });
}

void add_aurocs(CsvTable& table, const analysis::Evaluation& evaluation) {
  for_each_repeat(evaluation.report, [&table](const Place& place) {
    for (const results::EpochRecord& epoch : place.repeat.epochs) {
      for (const results::LabelScore& score : epoch.scores) {
        begin_row(table, place);
        table(Field{"epoch", "", "number of the epoch, from 1"}, epoch.epoch);
        visit_fields(table, score);
        table.end_row();
      }
    }
  });
}

void add_roc(CsvTable& table, const analysis::Evaluation& evaluation) { add_curves(table, evaluation, kAddRoc); }
void add_reliability(CsvTable& table, const analysis::Evaluation& evaluation) {
  add_curves(table, evaluation, kAddReliability);
}

void add_gpu(CsvTable& table, const analysis::Evaluation& evaluation) {
  for_each_sample(table, evaluation.report, [&table](auto begin, const measure::GpuSample& sample) {
    begin();
    results::visit_fields(table, sample);
    table(Field{"throttled", "", "the sample has a throttle reason of power or heat", "the GPU reports no reasons"},
          sample.throttle_reasons ? std::optional(measure::is_throttled(*sample.throttle_reasons)) : std::nullopt);
    table.end_row();
  });
}

void add_gpu_throttle(CsvTable& table, const analysis::Evaluation& evaluation) {
  for_each_sample(table, evaluation.report, [&table](auto begin, const measure::GpuSample& sample) {
    for (const std::string& reason : sample.throttle_reasons.value_or(std::vector<std::string>{})) {
      begin();
      table(Field{"time_s", "s", "when the sample was taken, by the clock of end_s in steps.csv"}, sample.time_s);
      table(Field{"reason", "", "why clocks were not at their highest, in nvidia-smi's words"}, reason);
      table.end_row();
    }
  });
}

}  // namespace

void add_arm(CsvTable& table, const results::Report& report, const results::TrialResult& trial) {
  begin_row(table, report, trial);
  table(Field{"pipeline", "", "name of the pipeline", "the batches are ready-made"},
        results::pipeline_name(trial.spec));
  table(Field{"format", "", "format of the data"}, to_string(trial.spec.data.format));
  table(Field{"model", "", "name of the network"}, trial.spec.model.name);
  table(Field{"engine", "", "engine that gets the batches"}, trial.spec.engine);
  table(Field{"precision", "", "precision of the training"}, to_string(trial.spec.training.precision));
  table(Field{"ranks", "", "ranks that measured the trial together"}, trial.ranks);
  table(Field{"batch_size", "images", "images of one rank's batch"}, trial.spec.training.batch_size);
}

std::span<const CsvFile> csv_files() {
  static constexpr std::array files{
      CsvFile{"trials.csv", "One row per trial", add_trials, true, true},
      CsvFile{"repeats.csv", "One row per repeat of a trial", add_repeats, true, true},
      CsvFile{"steps.csv", "One row per measured step of each rank and repeat", add_steps, false, true},
      CsvFile{"ops.csv", "One row per op of each repeat, summed over its ranks and their threads", add_ops, false,
              true},
      CsvFile{"waits.csv", "One row per op and part that a trial waits for, the longest wait first", add_waits},
      CsvFile{"throttle.csv", "One row per throttle reason of a trial's GPUs", add_throttle},
      CsvFile{"notes.csv", "One row per note of a trial", add_notes},
      CsvFile{"epochs.csv", "One row per epoch of a training", add_epochs},
      CsvFile{"aurocs.csv", "One row per label of each epoch", add_aurocs},
      CsvFile{"roc.csv", "One row per point of each label's ROC curve, of the best epoch of each repeat", add_roc},
      CsvFile{"reliability.csv", "One row per bin of each label's probabilities, of the best epoch of each repeat",
              add_reliability},
      CsvFile{"gpu.csv", "One row per sample of the GPU of each rank and repeat", add_gpu},
      CsvFile{"gpu_throttle.csv", "One row per throttle reason of each sample of gpu.csv", add_gpu_throttle}};
  return files;
}

std::string csv_text(std::string_view name, const analysis::Evaluation& evaluation) {
  const CsvFile& file = *std::ranges::find(csv_files(), name, &CsvFile::name);
  CsvTable table;
  file.add_rows(table, evaluation);
  if (table.lines().empty() && !file.has_header) return "";
  return header_line(columns_of(file, evaluation.report)) + table.lines();
}

std::string csv_metadata(const results::Report& report, const std::vector<std::string>& written) {
  Json tables = Json::array();
  for (const CsvFile& file : csv_files()) {
    if (std::ranges::find(written, file.name) != written.end()) tables.push_back(file_to_json(file, report));
  }
  const Json object = {{"@context", Json::array({"http://www.w3.org/ns/csvw", {{"@language", "en"}}})},
                       {"dc:title", report.experiment},
                       {"tables", std::move(tables)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string roc_csv(const std::vector<results::LabelCurves>& labels) { return curves_csv(labels, kAddRoc); }
std::string reliability_csv(const std::vector<results::LabelCurves>& labels) {
  return curves_csv(labels, kAddReliability);
}

}  // namespace chexbench::report
