#include "selftest_command.hpp"

#include <memory>
#include <string>

#include "bench/selftest_data.hpp"
#include "bench/selftest_engine.hpp"
#include "output.hpp"
#include "precisions.hpp"

namespace chexbench::app {
namespace {

struct SelftestArguments {
  std::string golden;
  std::string root = "tests/data/nih";
  bench::SelftestEngine engine;
};

void add_golden(CLI::App& verb, SelftestArguments& arguments) {
  verb.add_option("--golden", arguments.golden, "The golden values")->type_name("FILE")->required();
}

}  // namespace

void add_selftest_commands(CLI::App& app) {
  const auto arguments = std::make_shared<SelftestArguments>();
  CLI::App* const selftest = app.add_subcommand("selftest", "Hold this machine against golden values");
  selftest->require_subcommand(1);

  CLI::App* const engine = selftest->add_subcommand("engine", "Logits, loss, gradients and first steps of a network");
  add_golden(*engine, *arguments);
  engine->add_option("--engine", arguments->engine.name, "The engine to test")->capture_default_str();
  engine->add_option("--precision", arguments->engine.precision, "Of the arithmetic; tf32 may be less near")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->option_text("TEXT:{f32,tf32}=f32");
  engine->callback([arguments] { print(bench::selftest_engine(arguments->golden, arguments->engine)); });

  CLI::App* const preprocess = selftest->add_subcommand("preprocess", "Decoded and resized pixels");
  add_golden(*preprocess, *arguments);
  preprocess->add_option("--root", arguments->root, "The data set that holds the images")
      ->type_name("DIR")
      ->capture_default_str();
  preprocess->callback([arguments] { print(bench::selftest_preprocess(arguments->golden, arguments->root)); });

  CLI::App* const interleave = selftest->add_subcommand("interleave", "The order in which shards are read");
  add_golden(*interleave, *arguments);
  interleave->callback([arguments] { print(bench::selftest_interleave(arguments->golden)); });
}

}  // namespace chexbench::app
