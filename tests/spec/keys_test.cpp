#include "spec/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "spec/names.hpp"
#include "spec/spec_error.hpp"

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

TEST(Keys, HaveTheDefaultsOfTheDesign) {
  const auto standard = [](const std::string& path) { return find_key(path)->get(TrialSpec{}); };
  EXPECT_EQ(standard("data.format"), Value("png"));
  EXPECT_EQ(standard("data.split"), Value("train"));
  EXPECT_EQ(standard("data.layout"), Value("auto"));
  EXPECT_EQ(standard("data.labels.columns"), Value("*"));
  EXPECT_EQ(standard("data.decoder"), Value("fast"));
  EXPECT_EQ(standard("data.deliver"), Value("f32"));
  EXPECT_EQ(standard("data.on_bad_record"), Value("stop"));
  EXPECT_EQ(standard("model.image_size"), Value(std::int64_t{224}));
  EXPECT_EQ(standard("training.batch_size"), Value(std::int64_t{16}));
  EXPECT_EQ(standard("training.learning_rate"), Value(1e-3));
  EXPECT_EQ(standard("comm.bucket_bytes"), Value(std::int64_t{26214400}));
  EXPECT_EQ(standard("comm.backend"), Value("auto"));
  EXPECT_EQ(standard("engine"), Value("auto"));
  EXPECT_EQ(standard("ranks"), Value("all"));
  EXPECT_EQ(standard("cores_per_rank"), Value("auto"));
  EXPECT_EQ(standard("measure.warmup_steps"), Value(std::int64_t{3}));
  EXPECT_EQ(standard("measure.steps"), Value(std::int64_t{12}));
  EXPECT_EQ(standard("measure.repeats"), Value(std::int64_t{6}));
  EXPECT_EQ(standard("measure.max_seconds"), Value());
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

TEST(Names, AreTheWordsOfTheDesign) {
  EXPECT_EQ(to_string(DataFormat::tfrecord), "tfrecord");
  EXPECT_EQ(to_string(Split::all), "all");
  EXPECT_EQ(to_string(DecoderKind::opencv), "opencv");
  EXPECT_EQ(to_string(OnBadRecord::skip), "skip");
  EXPECT_EQ(to_string(ResizeMethod::area), "area");
  EXPECT_EQ(to_string(Precision::bf16), "bf16");
  EXPECT_EQ(to_string(OptimizerKind::sgd), "sgd");
  EXPECT_EQ(to_string(UpdateScheme::all_reduce), "all_reduce");
  EXPECT_EQ(to_string(CommModel::alpha_beta), "alpha_beta");
  EXPECT_EQ(to_string(CommBackend::nccl), "nccl");
  EXPECT_EQ(to_string(PageCache::as_is), "as_is");
  EXPECT_EQ(to_string(BatchNormMode::frozen), "frozen");
  EXPECT_EQ(to_string(Deliver::u8), "u8");
}

}  // namespace
}  // namespace chexbench::spec
