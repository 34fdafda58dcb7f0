#include "verbs/sweeps/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/json_text.hpp"
#include "report/csv_table.hpp"
#include "report/text_table.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {

const KernelShare* StepShares::worst() const {
  const KernelShare* worst = nullptr;
  for (const KernelShare& kernel : kernels) {
    const bool counts = kernel.share >= kWorthNaming;
    if (counts && (worst == nullptr || kernel.copy_share < worst->copy_share)) worst = &kernel;
  }
  return worst;
}

StepShares shares_of_step(const std::vector<engine::KernelTiming>& timings, bool fused) {
  StepShares step;
  double copies_s = 0;
  for (const engine::KernelTiming& timing : timings) {
    const int runs = fused ? timing.fused_runs : timing.runs;
    if (!timing.ran || runs == 0) continue;
    auto kernel = std::ranges::find(step.kernels, timing.kernel, &KernelShare::kernel);
    if (kernel == step.kernels.end()) kernel = step.kernels.insert(kernel, {.kernel = timing.kernel});
    kernel->step_s += runs * timing.median_s;
    kernel->copy_share += runs * timing.copy_s;  // divided below
    step.own_s += runs * timing.median_s;
    copies_s += runs * timing.copy_s;
  }
  if (step.own_s > 0) step.copy_share = copies_s / step.own_s;
  for (KernelShare& kernel : step.kernels) {
    kernel.share = kernel.step_s / step.own_s;
    kernel.copy_share /= kernel.step_s;
  }
  std::ranges::stable_sort(step.kernels, std::greater{}, &KernelShare::step_s);
  return step;
}

namespace {

using Json = nlohmann::ordered_json;  // keeps the order of keys below, for readers

// Visits the fields of a timing with their names; JSON and CSV share this list. Those of a kernel that did not run are
// empty.
template <class Visitor>
void visit_timing(Visitor&& visit, const KernelSweepOptions& options, const KernelTiming& timing) {
  const auto if_ran = [&](double value) { return timing.ran ? std::optional(value) : std::nullopt; };
  visit("network", timing.network);
  visit("device", timing.device);
  visit("precision", spec::to_string(options.precision));
  visit("batch_size", options.batch_size);
  visit("image_size", options.image_size);
  visit("kernel", timing.kernel);
  visit("shape", timing.shape);
  visit("ran", timing.ran);
  visit("reason", timing.reason);
  visit("runs_per_step", timing.runs);
  visit("fused_runs_per_step", timing.fused_runs);
  visit("bytes", timing.bytes);
  visit("median_us", if_ran(1e6 * timing.median_s));
  visit("bytes_per_s", if_ran(timing.bytes_per_s()));
  visit("copy_us", if_ran(1e6 * timing.copy_s));
  visit("copy_share", if_ran(timing.copy_share()));
  visit("us_per_step", if_ran(1e6 * timing.runs * timing.median_s));
  visit("fused_us_per_step", if_ran(1e6 * timing.fused_runs * timing.median_s));
  visit("checked_values", timing.checked_values);
  visit("worst_result", timing.worst_result);
  visit("difference", if_ran(timing.difference));
  visit("allowed_difference", if_ran(timing.allowed_difference));
  visit("agrees", timing.ran && timing.agrees());
}

std::string json_line(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string csv_line(const KernelSweepSetting& setting, const KernelTiming& timing) {
  report::CsvRow line;
  visit_timing([&line](const char*, const auto& value) { line(value); }, setting.options, timing);
  return std::move(line).line();
}

std::string verdict(const KernelTiming& timing) {
  if (!timing.ran) return "did not run: " + timing.reason;
  if (!timing.agrees())
    return fmt::format("WRONG {}: differs by {:.2g}, allowed {:.2g}", timing.worst_result, timing.difference,
                       timing.allowed_difference);
  return fmt::format("agrees: {:.1g} of {:.1g}", timing.difference, timing.allowed_difference);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

Json to_json(const StepShares& step) {
  Json kernels = Json::array();
  for (const KernelShare& kernel : step.kernels)
    kernels.push_back({{"kernel", kernel.kernel},
                       {"us_per_step", 1e6 * kernel.step_s},
                       {"share", kernel.share},
                       {"copy_share", kernel.copy_share}});
  const KernelShare* const worst = step.worst();
  return {{"own_us_per_step", 1e6 * step.own_s},
          {"copy_share", step.own_s > 0 ? Json(step.copy_share) : Json(nullptr)},
          {"worst_kernel", worst != nullptr ? Json(worst->kernel) : Json(nullptr)},
          {"worst_copy_share", worst != nullptr ? Json(worst->copy_share) : Json(nullptr)},
          {"kernels", kernels}};
}

std::string summary_json(const KernelSweepSetting& setting, const std::vector<KernelTiming>& timings, bool complete) {
  Json wrong = Json::array(), failed = Json::array();
  for (const KernelTiming& timing : timings) {
    if (!timing.ran) failed.push_back(timing.kernel + " at " + timing.shape);
    if (timing.ran && !timing.agrees()) wrong.push_back(timing.kernel + " at " + timing.shape);
  }
  return json_line({{"summary", true},
                    {"network", timings.front().network},
                    {"device", timings.front().device},
                    {"precision", spec::to_string(setting.options.precision)},
                    {"batch_size", setting.options.batch_size},
                    {"image_size", setting.options.image_size},
                    {"complete", complete},
                    {"measured", timings.size()},
                    {"wrong", wrong},
                    {"failed", failed},
                    {"separate", to_json(shares_of_step(timings, false))},
                    {"fused", to_json(shares_of_step(timings, true))}});
}

// Both kinds of step side by side, a row for each kernel.
std::string summary_table(const std::vector<KernelTiming>& timings, bool complete) {
  const StepShares separate = shares_of_step(timings, false), fused = shares_of_step(timings, true);
  report::TextTable table{.header = {"kernel", "us/step", "share", "of a copy", "fused: us/step", "share", "of a copy"},
                          .left_columns = 1};
  const auto cells = [](const StepShares& step, const std::string& name, std::vector<std::string>& row) {
    const auto found = std::ranges::find(step.kernels, name, &KernelShare::kernel);
    if (found == step.kernels.end()) {
      row.insert(row.end(), 3, "");
    } else {
      row.insert(row.end(),
                 {fmt::format("{:.1f}", 1e6 * found->step_s), percent(found->share), percent(found->copy_share)});
    }
  };
  std::vector<std::string> names;
  for (const StepShares* const step : {&separate, &fused}) {
    for (const KernelShare& kernel : step->kernels)
      if (std::ranges::find(names, kernel.kernel) == names.end()) names.push_back(kernel.kernel);
  }
  for (const std::string& name : names) {
    cells(separate, name, table.rows.emplace_back(1, name));
    cells(fused, name, table.rows.back());
  }
  std::vector<std::string>& all = table.rows.emplace_back(1, "all");
  for (const StepShares* const step : {&separate, &fused})
    all.insert(all.end(), {fmt::format("{:.1f}", 1e6 * step->own_s), "", percent(step->copy_share)});
  const char* const cut = complete ? "" : "The budget ended before all kernels were measured.\n";
  return "\n" + report::render(table) + cut + "\n";
}

// Returns the text before the timings of all networks; empty in formats without one.
std::string sweep_header(const KernelSweepSetting& setting) {
  if (setting.format != "csv") return {};
  report::CsvRow header;
  visit_timing([&header](const char* name, const auto&) { header(name); }, {}, {});
  return std::move(header).line();
}

// Returns the text before the timings of one network; empty in formats without one.
std::string network_header(const KernelSweepSetting& setting, const KernelTiming& first) {
  if (setting.format != "table") return {};
  const KernelSweepOptions& options = setting.options;
  return fmt::format(
      "own kernels of {}, batch {} at {}x{} in {}, on {}\n\n{:<27} {:<46} {:>9} {:>8} {:>9} {:>4} {:>5}  "
      "{}\n",
      first.network, options.batch_size, options.image_size, options.image_size, spec::to_string(options.precision),
      first.device, "kernel", "shape", "us", "GB/s", "of a copy", "runs", "fused", "result");
}

std::string timing_line(const KernelSweepSetting& setting, const KernelTiming& timing) {
  if (setting.format == "csv") return csv_line(setting, timing);
  if (setting.format == "json") {
    Json object;
    visit_timing(ToJson{object}, setting.options, timing);
    return json_line(object);
  }
  const auto if_ran = [&](const std::string& text) { return timing.ran ? text : "-"; };
  return fmt::format("{:<27} {:<46} {:>9} {:>8} {:>9} {:>4} {:>5}  {}\n", timing.kernel, timing.shape,
                     if_ran(fmt::format("{:.1f}", 1e6 * timing.median_s)),
                     if_ran(fmt::format("{:.0f}", 1e-9 * timing.bytes_per_s())), if_ran(percent(timing.copy_share())),
                     timing.runs, timing.fused_runs, verdict(timing));
}

// Returns the text after the timings of one network: a table, or a JSON line with "summary": true; nothing in CSV.
// `complete`: all of its kernels were measured.
std::string network_summary(const KernelSweepSetting& setting, const std::vector<KernelTiming>& timings,
                            bool complete) {
  if (setting.format == "csv") return {};
  return setting.format == "json" ? summary_json(setting, timings, complete) : summary_table(timings, complete);
}

constexpr std::ptrdiff_t kMostNamed = 5;

bool is_wrong(const KernelTiming& timing) { return timing.ran && !timing.agrees(); }
bool has_failed(const KernelTiming& timing) { return !timing.ran; }

std::string named(const std::vector<KernelTiming>& timings, bool (*which)(const KernelTiming&)) {
  std::string names;
  const std::ptrdiff_t count = std::ranges::count_if(timings, which);
  std::ptrdiff_t listed = 0;
  for (const KernelTiming& timing : timings) {
    if (!which(timing) || listed == kMostNamed) continue;
    names += fmt::format("{}{} at {} of {}", listed++ == 0 ? "" : ", ", timing.kernel, timing.shape, timing.network);
  }
  return count > listed ? names + fmt::format(" and {} more", count - listed) : names;
}

void throw_if_wrong(const std::vector<KernelTiming>& timings) {
  if (std::ranges::any_of(timings, is_wrong))
    throw ComparisonError("kernel-sweep: kernels compute something else than the host: " + named(timings, is_wrong));
  const auto failed = std::ranges::find_if(timings, has_failed);
  if (failed != timings.end())
    throw DeviceError(fmt::format("kernel-sweep: kernels did not run: {}; the first: {}", named(timings, has_failed),
                                  failed->reason));
}

}  // namespace

bool kernel_sweep(const KernelSweepSetting& setting, const Sweep& sweep,
                  const std::function<void(const std::string&)>& write) {
  std::vector<KernelTiming> all, of_network;
  const auto end_network = [&](bool complete) {
    if (!of_network.empty()) write(network_summary(setting, of_network, complete));
    of_network.clear();
  };
  const bool complete = sweep(setting.options, [&](const KernelTiming& timing) {
    if (all.empty()) write(sweep_header(setting));
    if (!of_network.empty() && of_network.front().network != timing.network) end_network(true);
    if (of_network.empty()) write(network_header(setting, timing));
    write(timing_line(setting, timing));
    of_network.push_back(timing);
    all.push_back(timing);
    throw_if_interrupted();
  });
  end_network(complete);
  throw_if_wrong(all);
  return complete;
}

// All texts except the reason are chexbench's or names of cuDNN's engines, and need no escaping.
std::string to_json_line(const engine::PlanTiming& timing) {
  std::string line = fmt::format(
      R"({{"network": "{}", "precision": "{}", "pattern": "{}", "shape": "{}", "engine": "{}", "ran": {}, "workspace_bytes": {})",
      timing.network, spec::to_string(timing.precision), timing.pattern, timing.shape, timing.engine, timing.ran,
      timing.workspace_bytes);
  if (timing.ran) {
    line += fmt::format(R"(, "median_us": {:.2f}, "tflops_per_s": {:.2f})", 1e6 * timing.median_s,
                        1e-12 * timing.flops_per_s);
  } else if (!timing.reason.empty()) {
    line += ", \"reason\": " + json_text(timing.reason);
  }
  return line + "}\n";
}

bool plan_sweep(const PlanSweepOptions& options, const std::function<void(const std::string&)>& write_line) {
  return engine::sweep_plans(options, [&](const engine::PlanTiming& timing) { write_line(to_json_line(timing)); });
}

}  // namespace chexbench::verbs
