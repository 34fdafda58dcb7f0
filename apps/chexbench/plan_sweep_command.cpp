#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "core/log.hpp"
#include "output.hpp"
#include "precisions.hpp"
#include "verbs/sweeps/sweeps.hpp"

namespace chexbench::app {
namespace {

using spec::Precision;

}  // namespace

void add_plan_sweep_command(CLI::App& app) {
  const auto options = std::make_shared<verbs::PlanSweepOptions>(verbs::PlanSweepOptions{
      .networks = {"resnet50", "densenet121"}, .batches = {256}, .precisions = {Precision::fp16}});
  CLI::App* const sweep = app.add_subcommand(
      "plan-sweep",
      "Time every plan that cuDNN has for each convolution, plain and fused, on this GPU. The output is JSON lines.");
  sweep->add_option("--network", options->networks, "Time the convolutions of these networks.")->capture_default_str();
  sweep->add_option("--batch", options->batches, "Time them with these batches (images of a step).")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  sweep->add_option("--precision", options->precisions, "Use operands of these precisions.")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->option_text("TEXT:{f32,tf32,fp16,bf16}=fp16 ...");
  sweep->add_option("--budget", options->budget_s, "Start no further plan after this many seconds.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sweep->callback([options] {
    if (!verbs::plan_sweep(*options, [](const std::string& line) { print(line, "json"); }))
      log::warning("plan-sweep: stopped at its budget of {} s", options->budget_s);
  });
}

}  // namespace chexbench::app
