#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/csv_reader.hpp"
#include "results/record_factory.hpp"
#include "verbs/predict/prediction_request.hpp"
#include "verbs/predict/prediction_result.hpp"

namespace chexbench::verbs {
namespace {

using nlohmann::json;

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
