#include "spec/resolved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/presets.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;

TEST(Numbering, GivesEqualExperimentsTheSameNumber) {
  Numbering numbering;
  TrialSpec other;
  other.training.batch_size = 7;
  EXPECT_EQ(numbering.of({}), 0U);
  EXPECT_EQ(numbering.of(other), 1U);
  EXPECT_EQ(numbering.of({}), 0U);
  EXPECT_EQ(numbering.of(other), 1U);
}

TEST(TrialSpecHash, DependsOnKeysRanksAndThePipeline) {
  const TrialSpecHash hash;
  const auto differs = [&](auto change) {
    TrialSpec changed;
    changed.pipeline = preset("naive");
    const std::size_t before = hash(changed);
    change(changed);
    return hash(changed) != before;
  };
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.measure.seed = 8; }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.data.root = "elsewhere"; }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.ranks = 3; }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.pipeline = preset("optimized"); }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.pipeline.ops.pop_back(); }));
  EXPECT_FALSE(differs([](TrialSpec&) {}));
}

TEST(Alike, FindsWhatDiffersInWhatIsLeftOutAlone) {
  Alike alike(leave_out_ranks);
  TrialSpec one, two, other;
  one.ranks = 1;
  two.ranks = 2;
  other.engine = "none";
  for (const TrialSpec& each : {one, other, two}) alike.add(each);
  EXPECT_THAT(alike.with(one), ElementsAre(0, 2));
  EXPECT_THAT(alike.with(other), ElementsAre(1));
  other.engine = "cuda";
  EXPECT_THAT(alike.with(other), ElementsAre());
}

}  // namespace
}  // namespace chexbench::spec
