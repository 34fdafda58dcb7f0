#include "spec/key_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "spec/keys.hpp"
#include "spec/presets.hpp"
#include "spec/resolved.hpp"

namespace chexbench::spec {
namespace {

using testing::Contains;
using testing::Not;

TrialSpec example() {
  TrialSpec trial;
  trial.data.root = "set";
  trial.pipeline = preset("naive");
  trial.training.batch_size = 2;
  trial.model.image_size = 32;
  trial.engine = "none";
  trial.ranks = 1;
  trial.measure.warmup_steps = 1;
  trial.measure.steps = 2;
  trial.measure.repeats = 5;
  return trial;
}

TEST(TrialKeys, BeginWithTheKeyOfThisVersion) {
  EXPECT_EQ(trial_keys(example(), "world 1").front(), trial_key(example(), "world 1"));
}

TEST(TrialKeys, AreThoseOfOlderVersions) {
  TrialSpec trial = example();
  EXPECT_EQ(trial_keys(trial, "world 1").back(), "f3f2515d78582768");  // that the first version gave this trial
  trial.measure.extra_repeats = 0;
  EXPECT_EQ(trial_keys(trial, "world 1").back(), "e76c2c8e1989fdc1");
}

TEST(TrialKeys, OfATrialThatAnOlderVersionCannotMeasureAreNewer) {
  TrialSpec trial = example();
  const std::vector<std::string> keys = trial_keys(trial);
  for (const auto change :
       {+[](TrialSpec& t) { t.measure.max_total_seconds = 60; }, +[](TrialSpec& t) { t.data.color = Color::rgb; },
        +[](TrialSpec& t) { t.data.store.read = FileReading::copy; }, +[](TrialSpec& t) { t.measure.steps = 3; }}) {
    TrialSpec other = trial;
    change(other);
    for (const std::string& key : trial_keys(other)) EXPECT_THAT(keys, Not(Contains(key)));
  }
}

TEST(TrialKeys, DifferBetweenVersions) {
  const std::vector<std::string> keys = trial_keys(example());
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

// A key that is added ends the resuming of older runs unless it is in the list.
TEST(AddedKeys, AreAllButThoseOfTheFirstVersion) {
  constexpr std::size_t kFirst = 75;
  std::set<std::string> added;
  for (const std::vector<std::string>& version : added_keys()) added.insert(version.begin(), version.end());
  for (const std::string& path : added) EXPECT_NE(find_key(path), nullptr) << path;
  EXPECT_EQ(key_rules().size() - added.size(), kFirst) << "a new key belongs at the end of added_keys()";
}

}  // namespace
}  // namespace chexbench::spec
