#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bench/second_job/work.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "spec/parse.hpp"

namespace chexbench::app {
namespace {

void run(const std::vector<int>& cores) {
  if (fcntl(bench::kCountersDescriptor, F_GETFD) < 0 || fcntl(bench::kControlDescriptor, F_GETFD) < 0) {
    throw SpecError("a run starts this command itself: measure two jobs with --set second_job.kind=input");
  }
  log::configure(log::Level::warning);
  bench::end_with(bench::kControlDescriptor);
  bench::SharedCounters counters(bench::kCountersDescriptor);
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  bench::run_second_job(spec::parse_trial(text, "the spec of the second job"), cores, *counters);
}

}  // namespace

void add_second_job_command(CLI::App& app) {
  const auto cores = std::make_shared<std::vector<int>>();
  CLI::App* const verb = app.add_subcommand("second-job", "Run next to a trial, for the run that starts this.");
  verb->group("");  // hidden: people set second_job in a spec
  verb->add_option("--cores", *cores, "CPUs to run on.")->delimiter(',')->required();
  verb->callback([cores] { run(*cores); });
}

}  // namespace chexbench::app
