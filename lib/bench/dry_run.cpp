#include "bench/dry_run.hpp"

#include <fmt/format.h>

#include <iterator>

#include "bench/layout.hpp"
#include "bench/pipeline_context.hpp"
#include "core/allocator.hpp"
#include "data/dataset.hpp"
#include "measure/process_sampler.hpp"
#include "spec/resolved.hpp"

namespace chexbench::bench {
namespace {

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

pipeline::MemoryForecast forecast(const report::TrialResult& trial, const HostCores& host) {
  const spec::Experiment& spec = trial.spec;
  const data::Dataset dataset = data::open_dataset(spec.data);
  return pipeline::forecast_memory(make_pipeline_context(
      spec, dataset, host_allocator(), {.world = trial.ranks, .cores = share_cores(host, spec, trial.ranks).cores}));
}

}  // namespace

std::string describe_plan(const report::Report& report, comm::World& world) {
  const HostCores host = find_host_cores(world);
  const std::uint64_t process_bytes = measure::sample_process().anonymous_rss_bytes;
  std::string text;
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const report::TrialResult& trial = report.trials[i];
    fmt::format_to(out, "trial {} of {}: {}\n{}\n", i + 1, report.trials.size(), trial.trial,
                   spec::to_json(trial.spec));
    const pipeline::MemoryForecast memory = forecast(trial, host);
    fmt::format_to(out, "anonymous memory of a rank, engine not counted, when its buffers are full:\n");
    for (const auto& line : memory.lines) {
      fmt::format_to(out, "  {:>9.1f} MB  {:<16} {}\n", megabytes(line.bytes), line.op, line.what);
    }
    fmt::format_to(out, "  {:>9.1f} MB  {:<16} as it stands now\n", megabytes(process_bytes), "process");
    fmt::format_to(out, "  {:>9.1f} MB  in all\n\n", megabytes(memory.total_bytes + process_bytes));
  }
  return text;
}

}  // namespace chexbench::bench
