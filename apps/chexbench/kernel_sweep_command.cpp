#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "core/log.hpp"
#include "format_option.hpp"
#include "output.hpp"
#include "precisions.hpp"
#include "verbs/sweeps/sweeps.hpp"

namespace chexbench::app {

void add_kernel_sweep_command(CLI::App& app) {
  const auto setting = std::make_shared<verbs::KernelSweepSetting>();
  verbs::KernelSweepOptions& options = setting->options;
  options.networks = {"resnet50", "densenet121"};
  CLI::App* const sweep = app.add_subcommand(
      "kernel-sweep",
      "Time every kernel of engine cuda at each shape that a step of the networks calls it with, and a plain "
      "copy of as many bytes, and compare what it computes with the host.");
  sweep->add_option("--model", options.networks, "Time the kernels of these networks.")
      ->option_text("TEXT,...=resnet50,densenet121")
      ->delimiter(',');
  sweep->add_option("--batch-size", options.batch_size, "Time them with batches of so many images.")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  sweep->add_option("--image-size", options.image_size, "Use images of this height and width, in pixels.")
      ->check(CLI::Range(32, 4096))
      ->capture_default_str();
  sweep->add_option("--precision", options.precision, "Use tensors of this precision.")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->option_text("TEXT:{f32,tf32,fp16,bf16}=fp16");
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

}  // namespace chexbench::app
