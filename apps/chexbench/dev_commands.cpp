// `chexbench dev`, for developers of chexbench. calibrate_command.cpp has its longest verb.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "core/log.hpp"
#include "options.hpp"
#include "output.hpp"
#include "verbs/selftest/selftest.hpp"
#include "verbs/sweeps/sweeps.hpp"

namespace chexbench::app {
namespace {

struct SelftestArguments {
  std::string golden;
  std::string root = "tests/data/nih";
  verbs::SelftestEngine engine;
  verbs::PrecisionGate gate;
};

void add_golden(CLI::App& verb, SelftestArguments& arguments) {
  verb.add_option("--golden", arguments.golden, "Read the golden values from this file.")
      ->type_name("FILE")
      ->required();
}

std::string test_engine(SelftestArguments& arguments) {
  if (!arguments.golden.empty()) return verbs::selftest_engine(arguments.golden, arguments.engine);
  arguments.gate.engine = arguments.engine.name;
  arguments.gate.precision = arguments.engine.precision;
  return verbs::precision_gate(arguments.gate);
}

void add_engine_test(CLI::App& selftest, const std::shared_ptr<SelftestArguments>& arguments) {
  CLI::App* const engine = selftest.add_subcommand(
      "engine", "Compares a network's results with golden values or, without --golden, with f32.");
  CLI::Option* const golden =
      engine->add_option("--golden", arguments->golden, "Read the golden values from this file.")->type_name("FILE");
  engine->add_option("--engine", arguments->engine.name, "Test this engine.")->capture_default_str();
  add_precision_option(*engine, arguments->engine.precision,
                       "Compute in this precision: f32 against golden values, any but f32 without.", "=f32");
  verbs::PrecisionGate& gate = arguments->gate;
  engine->add_option("--model", gate.models, "Without --golden: compare these networks.")
      ->option_text("TEXT,...=resnet50,densenet121")
      ->delimiter(',')
      ->excludes(golden);
  add_in_range(*engine, "--batch-size", gate.batch_size, 1, 4096, "Without --golden: images of the batch.")
      ->excludes(golden);
  add_in_range(*engine, "--image-size", gate.image_size, 32, 4096, "Without --golden: height and width of an image.")
      ->excludes(golden);
  engine->callback([arguments] { print(test_engine(*arguments)); });
}

void add_selftest_commands(CLI::App& app) {
  const auto arguments = std::make_shared<SelftestArguments>();
  CLI::App* const selftest = app.add_subcommand("selftest", "Compares the results of this machine with golden values.");
  selftest->require_subcommand(1);

  add_engine_test(*selftest, arguments);

  CLI::App* const updates =
      selftest->add_subcommand("updates", "Compares losses and updates with the formulas of torch.optim.");
  updates->add_option("--engine", arguments->engine.name, "Test this engine.")->capture_default_str();
  updates->callback([arguments] { print(verbs::selftest_updates(arguments->engine.name)); });

  CLI::App* const preprocess = selftest->add_subcommand("preprocess", "Compares decoded and resized pixels.");
  add_golden(*preprocess, *arguments);
  preprocess->add_option("--root", arguments->root, "Read the images from this data set.")
      ->type_name("DIR")
      ->capture_default_str();
  preprocess->callback([arguments] { print(verbs::selftest_preprocess(arguments->golden, arguments->root)); });

  CLI::App* const interleave = selftest->add_subcommand("interleave", "Compares the order in which shards are read.");
  add_golden(*interleave, *arguments);
  interleave->callback([arguments] { print(verbs::selftest_interleave(arguments->golden)); });
}

void add_kernel_sweep_command(CLI::App& app) {
  const auto setting = std::make_shared<verbs::KernelSweepSetting>();
  verbs::KernelSweepOptions& options = setting->options;
  options.networks = {"resnet50", "densenet121"};
  CLI::App* const sweep = app.add_subcommand(
      "kernel-sweep", "Times and checks each kernel of engine cuda at each shape of a training step.");
  sweep->add_option("--model", options.networks, "Time the kernels of these networks.")
      ->option_text("TEXT,...=resnet50,densenet121")
      ->delimiter(',');
  add_in_range(*sweep, "--batch-size", options.batch_size, 1, 4096, "Time them with batches of this many images.");
  add_in_range(*sweep, "--image-size", options.image_size, 32, 4096, "Use images of this height and width, in pixels.");
  add_precision_option(*sweep, options.precision, "Use tensors of this precision.", "=fp16");
  sweep->add_option("--kernel", options.kernels, "Time these kernels only, e.g. statistics,normalize (default: all).")
      ->option_text("TEXT,...")
      ->delimiter(',');
  sweep->add_option("--budget", options.budget_s, "Start no further kernel after this many seconds.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_format_option(*sweep, setting->format, {"table", "json", "csv"});
  sweep->callback([setting] {
    const auto print_rows = [&setting](const std::string& rows) { print(rows, setting->format); };
    if (!verbs::kernel_sweep(*setting, engine::sweep_kernels, print_rows))
      log::warning("kernel-sweep: stopped at its budget of {} s", setting->options.budget_s);
  });
}

void add_plan_sweep_command(CLI::App& app) {
  const auto options = std::make_shared<verbs::PlanSweepOptions>(verbs::PlanSweepOptions{
      .networks = {"resnet50", "densenet121"}, .batches = {256}, .precisions = {spec::Precision::fp16}});
  CLI::App* const sweep =
      app.add_subcommand("plan-sweep", "Times all of cuDNN's plans for each convolution on this GPU, as JSON lines.");
  sweep->add_option("--network", options->networks, "Time the convolutions of these networks.")->capture_default_str();
  add_in_range(*sweep, "--batch", options->batches, 1, 4096, "Time them with these batches (images of a step).");
  add_precision_option(*sweep, options->precisions, "Use operands of these precisions.", "=fp16 ...");
  sweep->add_option("--budget", options->budget_s, "Start no further plan after this many seconds.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sweep->callback([options] {
    if (!verbs::plan_sweep(*options, [](const std::string& line) { print(line, "json"); }))
      log::warning("plan-sweep: stopped at its budget of {} s", options->budget_s);
  });
}

}  // namespace

void add_dev_commands(CLI::App& app, bench::Session& session) {
  CLI::App* const dev = app.add_subcommand("dev", "Tests and times the engines, for developers of chexbench.");
  dev->group(kOtherCommands);
  dev->require_subcommand(1);
  add_calibrate_command(*dev, session);
  add_selftest_commands(*dev);
  add_kernel_sweep_command(*dev);
  add_plan_sweep_command(*dev);
}

}  // namespace chexbench::app
