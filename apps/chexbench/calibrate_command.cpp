#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "bench/protocol.hpp"
#include "bench/ranks.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "verbs/calibrate/calibrate.hpp"

namespace chexbench::app {
namespace {

namespace fs = std::filesystem;

struct CalibrateArguments {
  verbs::CalibrationRequest request;
  std::string output;
  bool allow_shared_gpu = false;
};

// Checks beforehand that the profile can be written, because a measurement takes minutes.
// @throws OutputError if it cannot be written
void check_writable(const std::string& output) {
  if (output.empty()) return;
  const fs::path folder = fs::path(output).parent_path();
  std::error_code error;
  if (fs::is_directory(output, error)) throw OutputError(fmt::format("--output {}: it is a folder", output));
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
    throw OutputError(fmt::format("--output {}: no file can be made in the folder {}", output,
                                  folder.empty() ? "." : folder.string()));
  }
}

spec::AcceleratorProfile profile_of(const results::Report& report, const CalibrateArguments& arguments) {
  return verbs::make_profile(report, arguments.output.empty() ? "calibrated" : fs::path(arguments.output).stem());
}

void publish(const spec::AcceleratorProfile& profile, const CalibrateArguments& arguments) {
  if (arguments.output.empty()) return print(spec::to_json(profile), "json");
  write_file_atomically(arguments.output, spec::to_json(profile));
  log::info("wrote {}; an experiment takes it as engine emulated:{}", arguments.output,
            arguments.output.find('/') == std::string::npos && !arguments.output.ends_with(".json")
                ? "./" + arguments.output
                : arguments.output);
  print(verbs::profile_table(profile, stdout_width()));
}

// After an error, writes the measurements so far, unless that would replace an earlier profile.
void publish_partial(const spec::AcceleratorProfile& profile, const CalibrateArguments& arguments) {
  std::error_code error;
  if (profile.entries.empty() || (!arguments.output.empty() && fs::exists(arguments.output, error))) return;
  try {
    publish(profile, arguments);
  } catch (const ReaderGone&) {  // the error that ended the run is reported instead
  } catch (const OutputError& second) {
    log::error("{}", second.what());  // only logged, because the process must end with the error that ended the run
  }
}

void calibrate(const CalibrateArguments& arguments, bench::Session& session) {
  const int rank = join_ranks(session);
  comm::World& world = session.world();
  results::Report report = in_agreement(session, [&] { return verbs::plan_calibration(arguments.request, world); });
  report.environment.chexbench_version = CHEXBENCH_VERSION;
  if (rank == 0) check_writable(arguments.output);
  try {
    bench::run_trials(report, world,
                      {.progress = bench::progress_options("auto"), .allow_shared_gpu = arguments.allow_shared_gpu});
  } catch (...) {
    if (rank == 0) publish_partial(profile_of(report, arguments), arguments);
    throw;
  }
  if (rank == 0) publish(profile_of(report, arguments), arguments);
}

}  // namespace

void add_calibrate_command(CLI::App& app, bench::Session& session) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  verbs::CalibrationRequest& request = arguments->request;
  CLI::App* const verb = app.add_subcommand(
      "calibrate", "Measures this machine's step times and writes a profile for engine emulated:FILE.");
  verb->add_option("--engine", request.engine, "Measure this engine: auto, onednn or cuda.")
      ->type_name("TEXT:{auto,onednn,cuda}")
      ->capture_default_str();
  verb->add_option("--model", request.models, "Measure these networks.")
      ->type_name("NETWORK")
      ->delimiter(',')
      ->capture_default_str();
  add_in_range(*verb, "--image-size", request.image_size, 32, 4096, "Use images of this height and width, in pixels.");
  add_in_range(*verb, "--batch-sizes", request.batch_sizes, 1, 65536,
               "Measure these batches per rank; times between two of them are interpolated.")
      ->delimiter(',');
  add_precision_option(*verb, request.precisions, "Compute in these precisions.", "=f32 ...")->delimiter(',');
  add_in_range(*verb, "--warmup-steps", request.warmup_steps, 0, 100000,
               "Run this many steps before the measured ones of each repeat.");
  add_in_range(*verb, "--steps", request.steps, 1, 100000, "Measure this many steps in each repeat.");
  add_in_range(*verb, "--repeats", request.repeats, 1, 1000, "Take the median of this many repeats.");
  verb->add_option("--output", arguments->output, "Write the profile to this file (default: to stdout).")
      ->type_name("FILE");
  add_shared_gpu_flag(*verb, arguments->allow_shared_gpu);
  verb->callback([arguments, &session] { calibrate(*arguments, session); });
}

}  // namespace chexbench::app
