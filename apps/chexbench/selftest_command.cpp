#include "selftest_command.hpp"

#include <memory>
#include <string>

#include "output.hpp"
#include "precisions.hpp"
#include "verbs/selftest/selftest_data.hpp"
#include "verbs/selftest/selftest_engine.hpp"

namespace chexbench::app {
namespace {

struct SelftestArguments {
  std::string golden;
  std::string root = "tests/data/nih";
  verbs::SelftestEngine engine;
};

void add_golden(CLI::App& verb, SelftestArguments& arguments) {
  verb.add_option("--golden", arguments.golden, "Read the golden values from this file.")
      ->type_name("FILE")
      ->required();
}

}  // namespace

void add_selftest_commands(CLI::App& app) {
  const auto arguments = std::make_shared<SelftestArguments>();
  CLI::App* const selftest = app.add_subcommand("selftest", "Compare the results of this machine with golden values.");
  selftest->require_subcommand(1);

  CLI::App* const engine =
      selftest->add_subcommand("engine", "Compare the logits, loss, gradients and first steps of a network.");
  add_golden(*engine, *arguments);
  engine->add_option("--engine", arguments->engine.name, "Test this engine.")->capture_default_str();
  engine
      ->add_option("--precision", arguments->engine.precision,
                   "Compute in this precision; the tolerance for tf32 is wider.")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->option_text("TEXT:{f32,tf32}=f32");
  engine->callback([arguments] { print(verbs::selftest_engine(arguments->golden, arguments->engine)); });

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
