#include "comm_command.hpp"

#include <memory>
#include <string>

#include "bench/comm_sweep.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "output.hpp"
#include "report/comm.hpp"

namespace chexbench::app {
namespace {

std::string text_of(const report::CommResult& result, const std::string& format) {
  if (format == "json") return report::comm_json(result);
  return format == "csv" ? report::comm_csv(result) : report::comm_table(result);
}

void run(const bench::CommOptions& options, const std::string& format, bench::Session& session) {
  comm::World& world = session.world();
  const int rank = world.communicator().rank();
  log::configure(log::Level::info, world.communicator().world() > 1 ? rank : -1);
  try {
    bench::check_comm_options(options, world.communicator().world());
  } catch (const SpecError&) {
    session.wait_for_root();  // which finds the same fault, and speaks for all
    throw;
  }
  report::CommResult result = bench::measure_comm(world, options);
  result.chexbench_version = CHEXBENCH_VERSION;
  if (rank == 0) print(text_of(result, format));
}

}  // namespace

void add_comm_command(CLI::App& app, bench::Session& session) {
  const auto options = std::make_shared<bench::CommOptions>();
  const auto format = std::make_shared<std::string>("table");
  CLI::App* const verb = app.add_subcommand(
      "comm", "Time the averaging of gradients over ranks by size, in nccl-tests' terms, and fit alpha and beta");
  verb->add_option("--min-bytes", options->min_bytes, "The smallest size; K, M, G are powers of 1024")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("8");
  verb->add_option("--max-bytes", options->max_bytes, "The largest one; sizes double")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("128M");
  verb->add_option("--ranks", options->ranks, "Worlds to measure, e.g. 2,4 (default: 2, 4, 8, ... and all)")
      ->delimiter(',')
      ->type_name("LIST");
  verb->add_option("--dtype", options->dtype, "Of the gradients")
      ->check(CLI::IsMember({"f32", "f16"}))
      ->capture_default_str();
  verb->add_option("--repeats", options->repeats, "Of each size; an interval needs five")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--format", *format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  verb->callback([options, format, &session] { run(*options, *format, session); });
}

}  // namespace chexbench::app
