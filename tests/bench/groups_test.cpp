#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/plan.hpp"
#include "spec/resolved.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;

results::TrialResult trial(const std::string& engine, int ranks, const std::string& pipeline) {
  results::TrialResult result;
  result.spec.engine = engine;
  result.spec.pipeline.name = pipeline;
  result.ranks = ranks;
  return result;
}

TEST(GroupArms, LetsPipelinesAndFormatsOfOneEngineTakeTurns) {
  auto tfrecord = trial("none", 1, "optimized");
  tfrecord.spec.data.format = spec::DataFormat::tfrecord;
  const auto groups = group_arms({trial("none", 1, "naive"), tfrecord});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].arms, ElementsAre(0, 1));
}

TEST(GroupArms, SeparatesWhatNeedsAnotherEngineInOrderOfFirstAppearance) {
  auto other_batch = trial("none", 1, "naive");
  other_batch.spec.training.batch_size = 64;
  auto other_content = trial("none", 1, "naive");
  other_content.spec.data.deliver = Deliver::u8;
  auto other_cores = trial("none", 1, "naive");
  other_cores.spec.all_cores = true;
  const auto groups = group_arms({trial("none", 1, "naive"), trial("none", 2, "naive"), trial("onednn", 1, "naive"),
                                  other_batch, trial("none", 1, "optimized"), other_content, other_cores});
  ASSERT_EQ(groups.size(), 6u);
  EXPECT_THAT(groups[0].arms, ElementsAre(0, 4));
  EXPECT_EQ(groups[1].ranks, 2);
  EXPECT_THAT(groups[2].arms, ElementsAre(2));
}

TEST(KeepKnownKeys, GivesATrialTheKeyOfTheVersionThatBeganIt) {
  results::Report planned{.experiment = "mine"};
  planned.trials = {trial("none", 1, "naive"), trial("none", 2, "naive")};
  const std::vector<std::string> keys = spec::trial_keys(planned.trials[0].spec, "world 2");
  planned.trials[0].key = keys.front();
  planned.trials[1].key = "own";
  keep_known_keys(planned, 1, {{keys.back(), 0}});
  EXPECT_EQ(planned.trials[0].key, keys.front()) << "in a world of another size it is another trial";
  keep_known_keys(planned, 2, {{keys.back(), 0}, {"of no trial", 0}});
  EXPECT_EQ(planned.trials[0].key, keys.back());
}

TEST(KeepKnownKeys, LeavesARunOfThisVersionAsItIs) {
  results::Report planned{.experiment = "mine"};
  planned.trials = {trial("none", 1, "naive")};
  planned.trials[0].key = spec::trial_keys(planned.trials[0].spec, "world 1").front();
  const std::string key = planned.trials[0].key;
  keep_known_keys(planned, 1, {{key, 0}, {"of no trial", 0}});
  EXPECT_EQ(planned.trials[0].key, key);
  keep_known_keys(planned, 1, {{key, 0}, {spec::trial_keys(planned.trials[0].spec, "world 1").back(), 0}});
  EXPECT_EQ(planned.trials[0].key, key) << "an older version measured a repeat of it, too";
}

}  // namespace
}  // namespace chexbench::bench
