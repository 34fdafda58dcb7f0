#include "verbs/predict/prediction_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "results/record_factory.hpp"

namespace chexbench::verbs {
namespace {

using results::make_trial;

TEST(DecodesBeforeShard, IsTrueOfNaiveAlone) {
  EXPECT_TRUE(decodes_before_shard(make_trial({.pipeline = "naive"}, {}).spec.pipeline));
  for (const char* name : {"optimized", "keras", "pytorch"}) {
    EXPECT_FALSE(decodes_before_shard(make_trial({.pipeline = name}, {}).spec.pipeline)) << name;
  }
}

TEST(MeasuredInput, OfTheMostRanksTellsTheRateOfACore) {
  results::TrialResult one = make_trial({.ranks = 1}, {100});
  results::TrialResult four = make_trial({.ranks = 4}, {320});
  one.cores_per_rank = four.cores_per_rank = 2;
  for (const auto& trials : {std::vector<const results::TrialResult*>{&one, &four}, {&four, &one}}) {
    const InputSide input = measured_input(trials);
    ASSERT_TRUE(input.images_per_s_per_core && input.known && input.bytes_per_image);
    EXPECT_DOUBLE_EQ(*input.images_per_s_per_core, 40);  // 320 / (4 x 2)
    EXPECT_EQ(input.measured_cores_per_rank, 2);
    EXPECT_EQ(input.measured_images_per_s, (std::map<int, double>{{1, 100}, {4, 320}}));
    EXPECT_EQ(input.known->min, 1);
    EXPECT_EQ(input.known->max, 4);
    EXPECT_DOUBLE_EQ(*input.bytes_per_image, 1000.0 / 128);  // a repeat reads 1000 bytes and decodes 32 images a rank
  }
}

TEST(MeasuredInput, IsAsSureAsTheRunThatItComesFrom) {
  results::TrialResult trial = make_trial({}, {100, 100});
  EXPECT_EQ(measured_input({&trial}).grade, results::Grade::told_apart);
  trial.unstable = true;
  EXPECT_EQ(measured_input({&trial}).grade, results::Grade::cannot_tell);
  trial.repeats[0].buffer_fed = true;
  EXPECT_EQ(measured_input({&trial}).grade, results::Grade::sample_too_small);
  for (results::RepeatResult& repeat : trial.repeats)
    repeat.disturbance = {.core_s = 1, .others_s = 0.5, .own_cpu_s = 0.5, .own_wait_s = 0.5, .span_s = 1};
  EXPECT_EQ(measured_input({&trial}).grade, results::Grade::machine_too_busy);
}

TEST(MeasuredInput, OfAPipelineThatDecodesAllCountsWhatItDecodes) {
  const results::TrialResult naive = make_trial({.pipeline = "naive", .ranks = 4}, {100});
  const InputSide input = measured_input({&naive});
  EXPECT_TRUE(input.every_rank_decodes_all);
  EXPECT_DOUBLE_EQ(*input.images_per_s_per_core, 100);  // each of the 4 ranks decodes all 100
}

TEST(MeasuredInput, OfRanksThatSharedCoresAloneIsAnError) {
  results::TrialResult shared = make_trial({.ranks = 2}, {100});
  shared.oversubscribed = true;
  EXPECT_THROW(measured_input({&shared}), DataError);
  const results::TrialResult own = make_trial({.ranks = 1}, {60});
  EXPECT_DOUBLE_EQ(*measured_input({&shared, &own}).images_per_s_per_core, 60);
}

TEST(PredictAll, SaysInTableAndJsonThatASpeedWasComputed) {
  spec::Trial trial;
  trial.spec.engine = "emulated:v100";
  trial.spec.model.name = "mobilenet_v2";
  trial.spec.training.precision = spec::Precision::fp16;
  trial.spec.training.batch_size = 64;
  PredictionRequest request;
  request.trials = {trial};
  request.ranks = {1};
  const Prediction prediction = predict_all(request);
  EXPECT_THAT(prediction_table(prediction, true), testing::HasSubstr("16 GB (computed speed): computed, not measured"));
  EXPECT_THAT(prediction_json(prediction), testing::AllOf(testing::HasSubstr("\"speed_computed\": true"),
                                                          testing::HasSubstr("\"step_time_computed\": true")));
  request.trials[0].spec.model.name = "resnet50";
  EXPECT_THAT(prediction_table(predict_all(request), true), testing::Not(testing::HasSubstr("computed")));
}

TEST(PredictAll, RefusesAnInputThatDoesNotOverlapTheTraining) {
  spec::Trial trial;
  trial.spec.engine = "emulated:v100";
  trial.spec.training.overlap_input = false;
  PredictionRequest request;
  request.trials = {trial};
  EXPECT_THROW(predict_all(request), SpecError);
  request.trials[0].spec.training.overlap_input = true;
  EXPECT_NO_THROW(predict_all(request));
}

TEST(PredictAll, ReckonsEachArmOnceWhateverItsRanks) {
  PredictionRequest request;
  request.accelerator = "v100";
  request.ranks = {1, 2};
  request.measured = {make_trial({.pipeline = "naive", .ranks = 1}, {100}),
                      make_trial({.pipeline = "optimized", .ranks = 1}, {100}),
                      make_trial({.pipeline = "optimized", .ranks = 2}, {180})};
  const Prediction prediction = predict_all(request);
  ASSERT_EQ(prediction.arms.size(), 2u);
  EXPECT_THAT(prediction.arms[0].name, testing::HasSubstr("naive png"));
  EXPECT_DOUBLE_EQ(prediction.arms[0].rows[1].decode_images_per_s.value_or(0), 100);
  EXPECT_DOUBLE_EQ(prediction.arms[1].rows[1].decode_images_per_s.value_or(0), 180);
}

TEST(PredictAll, TakesAPrecisionThatTheInputWasNotMeasuredWith) {
  PredictionRequest request;
  request.accelerator = "a100";
  request.ranks = {1};
  request.measured = {make_trial({.ranks = 1}, {100})};
  try {
    predict_all(request);
    FAIL() << "the a100's profile has no f32";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("predict's --precision fp16"));
  }
  request.precision = spec::Precision::fp16;
  EXPECT_EQ(predict_all(request).arms.at(0).precision, "fp16");
}

}  // namespace
}  // namespace chexbench::verbs
