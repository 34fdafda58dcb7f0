#include "verbs/run/memory_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "bench/pipeline_context.hpp"
#include "bench/training/labels.hpp"
#include "core/allocator.hpp"
#include "engine/device_memory.hpp"
#include "engine/registry.hpp"
#include "measure/cgroup_limits.hpp"
#include "measure/memory_state.hpp"
#include "verbs/model/summarize_model.hpp"

namespace chexbench::verbs {
namespace {

double megabytes(double bytes) { return bytes * 1e-6; }

void print_line(std::string& text, double full, double starved, std::string_view op, std::string_view what) {
  fmt::format_to(std::back_inserter(text), "  {:>9.1f} MB  {:>9.1f} MB  {:<16} {}\n", megabytes(full),
                 megabytes(starved), op, what);
}

pipeline::MemoryForecast forecast(const results::TrialResult& trial, const dataset::Dataset& dataset,
                                  const bench::HostCores& host) {
  const spec::TrialSpec& spec = trial.spec;
  return pipeline::forecast_memory(
      bench::make_pipeline_context(spec, dataset, host_allocator(),
                                   {.world = trial.ranks, .cores = bench::share_cores(host, spec, trial.ranks).cores}));
}

void print_device_memory(std::string& text, const spec::TrialSpec& spec, const dataset::Dataset& dataset) {
  const auto lines = engine::forecast_device_memory(engine::resolve_engine_name(spec.engine),
                                                    {.model = spec.model,
                                                     .training = spec.training,
                                                     .comm = spec.comm,
                                                     .deliver = spec::delivered(spec.data),
                                                     .outputs = dataset.labels(),
                                                     .class_weights = bench::class_weights(spec, dataset)});
  if (lines.empty()) return;
  auto out = std::back_inserter(text);
  std::size_t total = 0;
  fmt::format_to(out, "memory of a GPU, without the workspace of its convolutions\n");
  for (const engine::DeviceMemoryLine& line : lines) {
    fmt::format_to(out, "  {:>9.1f} MB  {}\n", megabytes(static_cast<double>(line.bytes)), line.what);
    total += line.bytes;
  }
  fmt::format_to(out, "  {:>9.1f} MB  in all\n", megabytes(static_cast<double>(total)));
}

}  // namespace

double training_bytes(const spec::TrialSpec& trial) {
  if (trial.engine != "onednn") return 0;
  const ModelSummary network = summarize_model(trial.model.name, trial.model.image_size);
  const int copies = spec::is_adam(trial.training.optimizer) ? 4 : 3;
  return static_cast<double>(network.gradient_bytes()) * copies +
         2.0 * static_cast<double>(network.activation_bytes()) * trial.training.batch_size;
}

double allowed_bytes() {
  const std::uint64_t machine = measure::probe_memory().total_bytes;
  const auto most = static_cast<double>(machine > 0 ? machine : std::numeric_limits<std::uint64_t>::max());
  const std::optional<std::uint64_t> limit = measure::probe_cgroup_limits().memory_bytes;
  return limit ? std::min(most, static_cast<double>(*limit)) : most;
}

std::string memory_text(const results::TrialResult& trial, const dataset::Dataset& dataset,
                        const bench::HostCores& host, double process) {
  const pipeline::MemoryForecast memory = forecast(trial, dataset, host);
  const double engine = training_bytes(trial.spec);
  std::string text =
      "anonymous memory of a rank: with full buffers, and with every batch taken at once (engine none)\n";
  const auto line = [&](const pipeline::MemoryForecast::Bytes& bytes, std::string_view op, std::string_view what) {
    print_line(text, static_cast<double>(bytes.full), static_cast<double>(bytes.starved), op, what);
  };
  for (const auto& each : memory.lines) line(each.bytes, each.op, each.what);
  if (engine > 0) print_line(text, engine, engine, "engine onednn", "weights and activations, about");
  print_line(text, process, process, "process", "as it stands now");
  const double all = static_cast<double>(memory.total.full) + engine + process;
  print_line(text, all, static_cast<double>(memory.total.starved) + engine + process, "in all", "");
  const int ranks = std::min(trial.ranks, std::max(host.sharers, 1));
  const double allowed = allowed_bytes();
  if (all * ranks > allowed)
    text += fmt::format(
        "too much: {} rank{} on a host would take {:.0f} MB, and {:.0f} MB is allowed (the machine's, or the limit of "
        "its control group); lower training.batch_size or the buffers, or allow more\n",
        ranks, ranks == 1 ? "" : "s", megabytes(all * ranks), megabytes(allowed));
  print_device_memory(text, trial.spec, dataset);
  return text;
}

}  // namespace chexbench::verbs
