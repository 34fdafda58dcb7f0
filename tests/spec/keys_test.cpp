#include "spec/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "spec/spec_error.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::spec {
namespace {

// Returns a value that the rule allows and that is not the default.
Value another_value(const KeyRule& rule) {
  const Value standard = rule.get(TrialSpec{});
  for (const std::string& word : rule.values.words) {
    if (Value(word) != standard) return word;
  }
  if (!rule.values.words.empty() && rule.values.type == ValueType::text) return rule.values.words.front();
  switch (rule.values.type) {
    case ValueType::boolean:
      return !std::get<bool>(standard);
    case ValueType::integer:
      return std::int64_t{97};
    case ValueType::number:
      return 0.375;
    case ValueType::text:
      return "another";
  }
  return {};
}

TEST(Keys, HaveDifferentPaths) {
  std::set<std::string> paths;
  for (const KeyRule& rule : key_rules()) EXPECT_TRUE(paths.insert(rule.path).second) << rule.path;
}

TEST(Keys, HaveDescriptionsThatEndAsSentences) {
  for (const KeyRule& rule : key_rules()) {
    ASSERT_FALSE(rule.description.empty()) << rule.path;
    EXPECT_EQ(rule.description.back(), '.') << rule.path;
  }
}

TEST(Keys, HaveDefaultsThatTheyAllow) {
  for (const KeyRule& rule : key_rules()) {
    const Value standard = rule.get(TrialSpec{});
    EXPECT_EQ(check_value(rule.values, to_node(standard), rule.path), standard) << rule.path;
  }
}

TEST(Keys, GetWhatWasSetAndTouchNoOtherKey) {
  for (const KeyRule& rule : key_rules()) {
    TrialSpec trial;
    const Value value = another_value(rule);
    rule.set(trial, value);
    EXPECT_EQ(rule.get(trial), value) << rule.path;
    for (const KeyRule& other : key_rules()) {
      if (other.path == rule.path) continue;
      EXPECT_EQ(other.get(trial), other.get(TrialSpec{})) << rule.path << other.path;
    }
  }
}

TEST(Keys, KnowWhatCoresPerRankMeans) {
  const KeyRule& rule = *find_key("cores_per_rank");
  TrialSpec trial;
  rule.set(trial, "all");
  EXPECT_TRUE(trial.all_cores);
  rule.set(trial, std::int64_t{3});
  EXPECT_FALSE(trial.all_cores);
  EXPECT_EQ(trial.cores_per_rank, 3);
  rule.set(trial, "auto");
  EXPECT_EQ(trial.cores_per_rank, std::nullopt);
}

TEST(Values, SayWhatIsExpected) {
  EXPECT_EQ(expectation(find_key("preprocess.flip")->values), "true or false");
  EXPECT_EQ(expectation(find_key("measure.steps")->values), "a whole number of at least 1 and at most 1000000");
  EXPECT_EQ(expectation(find_key("measure.repeats")->values), "a whole number of at least 1 and at most 1000000");
  EXPECT_EQ(expectation(find_key("model.image_size")->values), "a whole number of at least 32 and at most 4096");
  EXPECT_EQ(expectation(find_key("measure.max_seconds")->values), "a number above 0 and at most 1000000000, or null");
  EXPECT_EQ(expectation(find_key("data.split")->values), "one of 'train', 'val', 'test', 'all'");
  EXPECT_EQ(expectation(find_key("data.root")->values), "text");
  EXPECT_EQ(expectation(find_key("ranks")->values), "a whole number of at least 1, or 'all'");
  EXPECT_EQ(expectation(find_key("engine")->values), "one of 'auto', 'cuda', 'onednn', 'none', 'emulated:NAME'");
}

TEST(Values, TakeWholeNumbersHoweverTheyAreWritten) {
  EXPECT_EQ(check_value(find_key("training.batch_size")->values, Node{64.0}, "x"), Value(std::int64_t{64}));
  EXPECT_EQ(check_value(find_key("training.learning_rate")->values, Node{std::int64_t{1}}, "x"), Value(1.0));
}

TEST(Url, IsToldFromAPathByItsScheme) {
  for (const char* const url : {"s3://bucket/images", "nfs://filer/export", "https://host:80/a b"})
    EXPECT_TRUE(is_url(url)) << url;
  for (const char* const path : {"", "/data/nih", "data", "a:/b", "data:x//y"}) EXPECT_FALSE(is_url(path)) << path;
}

}  // namespace
}  // namespace chexbench::spec
