#include "analysis/commands.hpp"

#include <gtest/gtest.h>

#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

TEST(Commands, RunTheExperimentAgainOnAsManyRanks) {
  EXPECT_EQ(run_again(results::make_trial({}, {})), "chexbench --config SPEC");
  EXPECT_EQ(run_again(results::make_trial({.ranks = 4}, {}), "measure.steps=9"),
            "mpirun -np 4 chexbench --config SPEC --set measure.steps=9");
}

TEST(Commands, NameAPipelineThatIsBuiltInAlone) {
  results::TrialResult trial = results::make_trial({.pipeline = "naive"}, {});
  EXPECT_EQ(advise_command(trial),
            "chexbench advise --config SPEC --set pipeline=naive --set data.format=images --set ranks=1");
  trial.spec.pipeline.name = "mine";
  EXPECT_EQ(advise_command(trial), "chexbench advise --config SPEC --set data.format=images --set ranks=1");
}

TEST(Commands, GetTheSpecAndTheOverridesOfTheRun) {
  results::Environment environment{
      .command_line = {"chexbench", "--config", "my spec.json", "--output", "x", "--set", "data.root=/data"}};
  EXPECT_EQ(with_spec_of(environment, "chexbench --config SPEC --set measure.steps=9"),
            "chexbench --config 'my spec.json' --set data.root=/data --set measure.steps=9");
  EXPECT_EQ(with_spec_of(environment, "nvidia-smi"), "nvidia-smi");
  environment.command_line = {"chexbench", "--config=spec.json", "--set=ranks=2"};
  EXPECT_EQ(with_spec_of(environment, "chexbench --config SPEC"), "chexbench --config spec.json --set ranks=2");
}

TEST(Commands, TakeThePlaceOfTheOverridesThatTheyReplace) {
  const results::Environment environment{.command_line = {"chexbench", "--config", "a.json", "--set",
                                                          "measure.repeats=3", "--set", "measure.repeats_most=9"}};
  EXPECT_EQ(with_spec_of(environment, "chexbench --config SPEC --set measure.repeats=5"),
            "chexbench --config a.json --set measure.repeats_most=9 --set measure.repeats=5");
}

TEST(Commands, GetTheSpecThatTheEnvironmentNamesWhereTheCommandLineHasNone) {
  results::Environment environment{.command_line = {"chexbench", "--resume", "x", "--set", "ranks=2"}};
  EXPECT_EQ(with_spec_of(environment, "chexbench --config SPEC"), "chexbench --config SPEC");
  environment.spec_file = "a b/spec.json";
  environment.spec_overrides = {"data.root=/d", "ranks=2"};
  EXPECT_EQ(with_spec_of(environment, "chexbench --config SPEC --set measure.steps=9"),
            "chexbench --config 'a b/spec.json' --set data.root=/d --set ranks=2 --set measure.steps=9");
}

TEST(Commands, HaveWholeWordsReplaced) {
  const results::Environment environment{.command_line = {"chexbench", "--config", "x.json"}};
  for (const std::string command : {"chexbench --config '/a/my SPECS/x.json'", "chexbench --config /a/SPEC"})
    EXPECT_EQ(with_spec_of(environment, command), command);
  EXPECT_EQ(with_spec_of(environment, "chexbench --config SPECS SPEC"), "chexbench --config SPECS x.json");
  EXPECT_EQ(with_folder("out", "chexbench report 'my DIRS' DIR"), "chexbench report 'my DIRS' out");
}

TEST(Commands, GetTheFolderOfTheRun) {
  EXPECT_EQ(with_folder("a b", "chexbench report DIR --findings all"), "chexbench report 'a b' --findings all");
  EXPECT_EQ(with_folder("", "chexbench report DIR"), "chexbench report DIR");
}

}  // namespace
}  // namespace chexbench::analysis
