#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.hpp"
#include "output.hpp"
#include "precisions.hpp"
#include "verbs/selftest/precision_gate.hpp"
#include "verbs/selftest/selftest_data.hpp"
#include "verbs/selftest/selftest_engine.hpp"
#include "verbs/selftest/selftest_updates.hpp"

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
      "engine",
      "Compare a network's logits, loss, gradients and first steps with golden values or, without --golden, those of a "
      "precision with those of f32, and those of fused convolutions with those of separate passes.");
  CLI::Option* const golden =
      engine->add_option("--golden", arguments->golden, "Read the golden values from this file.")->type_name("FILE");
  engine->add_option("--engine", arguments->engine.name, "Test this engine.")->capture_default_str();
  engine
      ->add_option("--precision", arguments->engine.precision,
                   "Compute in this precision: f32 against golden values, any but f32 without.")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->option_text("TEXT:{f32,tf32,fp16,bf16}=f32");
  verbs::PrecisionGate& gate = arguments->gate;
  engine->add_option("--model", gate.models, "Without --golden: compare these networks.")
      ->option_text("TEXT,...=resnet50,densenet121")
      ->delimiter(',')
      ->excludes(golden);
  engine->add_option("--batch-size", gate.batch_size, "Without --golden: images of the batch.")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096))
      ->excludes(golden);
  engine->add_option("--image-size", gate.image_size, "Without --golden: height and width of an image.")
      ->capture_default_str()
      ->check(CLI::Range(32, 4096))
      ->excludes(golden);
  engine->callback([arguments] { print(test_engine(*arguments)); });
}

}  // namespace

void add_selftest_commands(CLI::App& app) {
  const auto arguments = std::make_shared<SelftestArguments>();
  CLI::App* const selftest = app.add_subcommand("selftest", "Compare the results of this machine with golden values.");
  selftest->require_subcommand(1);

  add_engine_test(*selftest, arguments);

  CLI::App* const updates = selftest->add_subcommand(
      "updates", "Compare losses and updates, with all options of a training, with the formulas of torch.optim.");
  updates->add_option("--engine", arguments->engine.name, "Test this engine.")->capture_default_str();
  updates->callback([arguments] { print(verbs::selftest_updates(arguments->engine.name)); });

  CLI::App* const preprocess = selftest->add_subcommand("preprocess", "Compare decoded and resized pixels.");
  add_golden(*preprocess, *arguments);
  preprocess->add_option("--root", arguments->root, "Read the images from this data set.")
      ->type_name("DIR")
      ->capture_default_str();
  preprocess->callback([arguments] { print(verbs::selftest_preprocess(arguments->golden, arguments->root)); });

  CLI::App* const interleave = selftest->add_subcommand("interleave", "Compare the order in which shards are read.");
  add_golden(*interleave, *arguments);
  interleave->callback([arguments] { print(verbs::selftest_interleave(arguments->golden)); });
}

}  // namespace chexbench::app
