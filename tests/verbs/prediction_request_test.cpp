#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "report/csv_reader.hpp"
#include "results/record_factory.hpp"
#include "verbs/predict/prediction_request.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {
namespace {

using nlohmann::json;
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
  EXPECT_THAT(prediction.arms[0].name, testing::HasSubstr("naive images"));
  EXPECT_DOUBLE_EQ(prediction.arms[0].rows[1].decode_images_per_s.value_or(0), 100);
  EXPECT_DOUBLE_EQ(prediction.arms[1].rows[1].decode_images_per_s.value_or(0), 180);
}

TEST(PredictAll, TakesTheSpreadOfStepsFromTrainingsOnRealDevicesAlone) {
  results::TrialResult trained = make_trial({.engine = "onednn"}, {20});
  trained.repeats[0].steps.clear();
  for (const double compute_s : {0.9, 1.0, 1.0, 1.1, 9.0}) {  // the last one was disturbed
    results::StepRecord& step = trained.repeats[0].steps.emplace_back();
    step.timings.compute_s = compute_s;
  }
  PredictionRequest request;
  request.accelerator = "v100";
  request.ranks = {4};
  request.measured = {make_trial({}, {100}), trained};
  EXPECT_NEAR(predict_all(request).arms.at(0).step_spread, 1.4826 * 0.1, 1e-9);
  request.step_spread = 0;
  EXPECT_EQ(predict_all(request).arms.at(0).step_spread, 0);
  request.step_spread.reset();
  request.measured[1].emulated = true;
  EXPECT_EQ(predict_all(request).arms.at(0).step_spread, 0);
}

TEST(PredictAll, TakesAPrecisionThatTheInputWasNotMeasuredWith) {
  PredictionRequest request;
  request.accelerator = "a100";
  request.ranks = {1};
  request.measured = {make_trial({.ranks = 1}, {100})};
  EXPECT_THAT(message_of<SpecError>([&] { predict_all(request); }), testing::HasSubstr("predict's --precision fp16"))
      << "the a100's profile has no f32";
  request.precision = spec::Precision::fp16;
  EXPECT_EQ(predict_all(request).arms.at(0).precision, "fp16");
}

// Two arms, one of them measured on 1 and 2 ranks of one core each.
Prediction predicted() {
  PredictionRequest request;
  request.measured = {results::make_trial({.pipeline = "naive", .ranks = 1}, {100}),
                      results::make_trial({.pipeline = "naive", .ranks = 2}, {104}),
                      results::make_trial({.pipeline = "optimized", .ranks = 1}, {110})};
  request.accelerator = "v100";
  request.ranks = {1, 2, 4};
  Prediction prediction = predict_all(request);
  prediction.arms[1].name = "an arm, \"quoted\"";
  return prediction;
}

TEST(PredictionCsv, HasARowForEachArmAndNumberOfRanks) {
  const auto rows = report::read_csv(prediction_csv(predicted()));
  ASSERT_EQ(rows.size(), 1u + 2 * 3);
  const std::vector<std::string> first{
      "arm",     "pipeline",   "format", "model",        "image_size", "precision", "profile",    "accelerator",
      "scaling", "batch_size", "ranks",  "images_per_s", "efficiency", "limit",     "wait_share", "starves"};
  EXPECT_EQ(std::vector<std::string>(rows[0].begin(), rows[0].begin() + static_cast<std::ptrdiff_t>(first.size())),
            first);
  EXPECT_EQ(rows[4][0], "an arm, \"quoted\"");
  EXPECT_EQ(report::read_csv(prediction_csv({})).size(), 1u) << "the header alone";
}

TEST(PredictionCsv, HoldsWhatTheJsonHolds) {
  const Prediction prediction = predicted();
  const auto records = report::read_csv_records(prediction_csv(prediction));
  const json object = json::parse(prediction_json(prediction));
  std::size_t next = 0;
  for (const json& arm : object["arms"]) {
    for (const json& row : arm["rows"]) {
      const auto& record = records.at(next++);
      json both = arm;
      both.update(row);
      both["arm"] = both["name"];
      both["predicted"] = true;
      for (const auto& [column, field] : record) {
        ASSERT_TRUE(both.contains(column)) << column;
        const json& value = both[column];
        if (value.is_null()) {
          EXPECT_EQ(field, "") << column;
        } else if (value.is_number()) {
          EXPECT_EQ(std::stod(field), value.get<double>()) << column;
        } else {
          EXPECT_EQ(field, value.is_string() ? value.get<std::string>() : value.dump()) << column;
        }
      }
      for (const auto& [key, value] : row.items()) EXPECT_TRUE(record.contains(key)) << key;
    }
  }
  EXPECT_EQ(next, records.size());
}

TEST(PredictionCsv, SaysWhatStarvesAndWhatOfTheInputWasMeasured) {
  const auto records = report::read_csv_records(prediction_csv(predicted()));
  EXPECT_EQ(records.at(1).at("ranks"), "2");
  EXPECT_EQ(records.at(1).at("images_per_s"), "104");
  EXPECT_EQ(records.at(1).at("limit"), "decode");
  EXPECT_EQ(records.at(1).at("starves"), "true");
  EXPECT_EQ(records.at(1).at("decode_measured"), "true");
  EXPECT_EQ(records.at(2).at("decode_measured"), "false") << "nobody measured 4 ranks";
  const double network = std::stod(records.at(1).at("network_images_per_s"));
  EXPECT_NEAR(std::stod(records.at(1).at("wait_share")), 1 - 104 / network, 1e-12);
  EXPECT_EQ(records.at(1).at("storage_images_per_s"), "") << "nothing is known of it";
}

}  // namespace
}  // namespace chexbench::verbs
