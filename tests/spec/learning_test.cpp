// The keys of losses and updates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/key_lists.hpp"
#include "spec/resolved.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TrainingSpec training(const std::string& keys) {
  return trials_of(R"({"training": {)" + keys + "}}", {"data.root=d"}).at(0).spec.training;
}
std::string refusal(const std::string& keys) { return spec_error(R"({"training": {)" + keys + "}}", {"data.root=d"}); }

TEST(LearningKeys, AreReadAndLeaveATrainingAsItWasWithoutThem) {
  const TrainingSpec plain = training("");
  EXPECT_EQ(plain.weight_decay, 0);
  EXPECT_FALSE(plain.clip_gradient_norm);
  EXPECT_EQ(plain.ema_decay, 0);
  EXPECT_EQ(plain.task, Task::multi_label);
  EXPECT_EQ(plain.label_smoothing, 0);
  const TrainingSpec all = training(
      R"("optimizer": "adamw", "weight_decay": 0.05, "clip_gradient_norm": 1, "ema_decay": 0.999, "task": "classes",
         "label_smoothing": 0.1)");
  EXPECT_EQ(all.optimizer, OptimizerKind::adamw);
  EXPECT_EQ(all.weight_decay, 0.05);
  EXPECT_EQ(all.clip_gradient_norm, 1.0);
  EXPECT_EQ(all.ema_decay, 0.999);
  EXPECT_EQ(all.task, Task::classes);
  EXPECT_EQ(all.label_smoothing, 0.1);
}

TEST(LearningKeys, OutOfRangeAreRefused) {
  EXPECT_THAT(refusal(R"("label_smoothing": 1.5)"),
              HasSubstr("training.label_smoothing must be a number of at least 0 and at most 1, not 1.5"));
  EXPECT_THAT(refusal(R"("label_smoothing": -0.1)"),
              HasSubstr("training.label_smoothing must be a number of at least 0"));
  EXPECT_THAT(refusal(R"("label_smoothing": 1)"), HasSubstr("it must be below 1, such as 0.1"));
  EXPECT_THAT(refusal(R"("ema_decay": 1)"), HasSubstr("it must be below 1, such as 0.999"));
  EXPECT_THAT(refusal(R"("clip_gradient_norm": 0)"), HasSubstr("training.clip_gradient_norm must be a number above 0"));
  EXPECT_THAT(refusal(R"("weight_decay": -1)"), HasSubstr("training.weight_decay must be"));
  EXPECT_THAT(refusal(R"("optimizer": "adanw")"), HasSubstr("did you mean 'adamw'?"));
  EXPECT_THAT(refusal(R"("task": "class")"), HasSubstr("did you mean 'classes'?"));
  EXPECT_THAT(refusal(R"("weight_decya": 0.1)"), HasSubstr("weight_decay"));
}

TEST(LearningKeys, ATaskOfClassesHasNoAurocToReach) {
  EXPECT_THAT(refusal(R"("task": "classes", "epochs": 1, "target_auroc": 0.8)"),
              HasSubstr("training.task is classes, which is judged by top-1 and top-5"));
}

TEST(ClassWeights, AreWordsOrNumbers) {
  EXPECT_THAT(stated_class_weights(training("")), IsEmpty());
  EXPECT_THAT(stated_class_weights(training(R"("class_weights": 2.5)")), ElementsAre(2.5f));
  EXPECT_THAT(stated_class_weights(training(R"("class_weights": [1, 2.5, "3"])")), ElementsAre(1.0f, 2.5f, 3.0f));
  EXPECT_THAT(stated_class_weights(training(R"("class_weights": "1, 4")")), ElementsAre(1.0f, 4.0f));
  const TrainingSpec balanced = training(R"("class_weights": "balanced")");
  EXPECT_TRUE(balances_classes(balanced));
  EXPECT_THAT(stated_class_weights(balanced), IsEmpty());
}

TEST(ClassWeights, ThatMeanNothingAreRefused) {
  EXPECT_THAT(refusal(R"("class_weights": "balance")"), HasSubstr("not 'balance' (did you mean 'balanced'?)"));
  EXPECT_THAT(refusal(R"("class_weights": [1, 0])"), HasSubstr("numbers above 0"));
  EXPECT_THAT(refusal(R"("class_weights": [1, -2])"), HasSubstr("not '-2'"));
  EXPECT_THAT(refusal(R"("class_weights": true)"), HasSubstr("training.class_weights must be words or numbers"));
  EXPECT_THAT(spec_error(R"({"data": {"format": "ready"}, "training": {"class_weights": "balanced"}})"),
              HasSubstr("data.format 'ready' has no images to count"));
}

TEST(ClassWeights, SurviveTheResolvedText) {
  const TrialSpec stated = trials_of(R"({"data": {"root": "d"}, "training": {"class_weights": [1, 2.5]}})").at(0).spec;
  EXPECT_EQ(parse_trial(to_json(stated), "x.json"), stated);
}

TEST(ClassesKey, HasAMeaningForShardsOfImagenetAndReadyMadeBatches) {
  const auto classes = [](const std::string& data) {
    return trials_of(R"({"data": {"root": "d", "labels": {"classes": 7}, )" + data + "}}").at(0).spec.data.labels;
  };
  EXPECT_EQ(classes(R"("format": "ready")").classes, 7);
  EXPECT_EQ(classes(R"("format": "tfrecord", "layout": "imagenet")").classes, 7);
  EXPECT_THAT(spec_error(R"({"data": {"root": "d", "labels": {"classes": 7}}})"),
              HasSubstr("data.labels.classes applies only where data.layout is imagenet or data.format is 'ready'"));
}

}  // namespace
}  // namespace chexbench::spec
