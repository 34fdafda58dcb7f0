#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dataset/dataset.hpp"
#include "verbs/evaluate/evaluation_result.hpp"

namespace chexbench::verbs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Two images of a data set: one has the first finding, and none the second.
EvaluationResult judged() {
  EvaluationResult result{.checkpoint = "best.safetensors",
                          .network = "densenet121",
                          .epochs = 2,
                          .image_size = 224,
                          .precision = "f32",
                          .engine = "onednn",
                          .labels = {"Mass", "Nodule"},
                          .rows = {{.file = "a.png", .patient = 3, .labels = {}, .probabilities = {0.25f, 0.1f}},
                                   {.file = "b.png", .patient = 4, .labels = {1}, .probabilities = {0.75f, 0.2f}}},
                          .data_set = DataSetScores{.root = "set", .split = "test", .patients = 2, .scores = {}}};
  const measure::ScoredImages scored{
      .columns = 2, .scores = {0.25f, 0.1f, 0.75f, 0.2f}, .labels = {0, 0, 1, 0}, .patients = {3, 4}};
  result.data_set->scores = measure::summarize_scores(scored);
  result.data_set->roc = measure::summarize_roc(scored);
  for (measure::Estimate* const estimate :
       {&result.data_set->scores.labels[0].auroc, &result.data_set->scores.labels[0].average_precision})
    estimate->ci95 = measure::Interval{.low = 0.5, .high = 1};  // two patients are too few for one
  return result;
}

EvaluationResult single() {
  EvaluationResult result = judged();
  result.data_set = {};
  result.rows = {{.file = "x/a.png", .patient = {}, .labels = {}, .probabilities = {0.25f, 0.1f}}};
  return result;
}

TEST(EvaluationOutput, ATableHasTheFiguresAndTellsWhatIsLeftOut) {
  const std::string table = evaluation_table(judged(), {});
  EXPECT_THAT(table, HasSubstr("densenet121 of best.safetensors, trained for 2 epochs, 224 pixels, f32 on onednn\n"));
  EXPECT_THAT(table, HasSubstr("2 images (2 patients) of split 'test' of set\n"));
  EXPECT_THAT(table, HasSubstr("bootstrap over patients, 1000 resamples, seed 1 (Field and Welsh 2007)"));
  EXPECT_THAT(table, testing::ContainsRegex("Mass +1 +1 +1\\.000 +0\\.500 to 1\\.000 +1\\.000 +0\\.500"));
  EXPECT_THAT(table, HasSubstr("\nNodule has no AUROC and is left out of the means: no image of the split has it.\n"));
}

TEST(EvaluationOutput, ATableOfALabelThatEveryImageHasSaysSo) {
  EvaluationResult result = judged();
  result.data_set->scores.labels[1].positives = 2;
  result.data_set->scores.labels[1].negatives = 0;
  EXPECT_THAT(evaluation_table(result, {}), HasSubstr("every image of the split has it"));
}

TEST(EvaluationOutput, PublishedAurocsStandBesideThoseOfTheFourteenFindingsMarkedAsOfOtherData) {
  EvaluationResult result = judged();
  EXPECT_THAT(evaluation_table(result, {}), Not(HasSubstr("CheXNet"))) << "other labels";
  EXPECT_FALSE(nlohmann::json::parse(evaluation_json(result)).contains("published"));
  result.labels.assign(dataset::kNihLabelNames.begin(), dataset::kNihLabelNames.end());
  result.data_set->scores.labels.resize(kNihLabels);
  const std::string table = evaluation_table(result, {});
  EXPECT_THAT(table, HasSubstr("CheXNet*"));
  EXPECT_THAT(table, testing::ContainsRegex("Hernia .* 0\\.916 +0\\.942\n"));
  EXPECT_THAT(table, testing::ContainsRegex("mean .* 0\\.841 +0\\.851\n"));
  EXPECT_THAT(table, HasSubstr("* Published AUROCs are of other images: random splits of ChestX-ray14"));
  const auto published = nlohmann::json::parse(evaluation_json(result)).at("published");
  EXPECT_EQ(published.at(0).at("auroc").at("Cardiomegaly"), 0.9248);
  EXPECT_EQ(published.at(0).at("same_images"), false);
}

TEST(EvaluationOutput, CsvHasARowForEachLabel) {
  const std::string csv = evaluation_csv(judged());
  EXPECT_THAT(csv, HasSubstr("label,positives,negatives,auroc,auroc_ci95_low,auroc_ci95_high,average_precision,"));
  EXPECT_THAT(csv, HasSubstr("\nMass,1,1,1,0.5,1,1,0.5,1,0.0625,0.0625,0.0625\n"));
  EXPECT_THAT(csv, HasSubstr("\nNodule,0,2,,,,,,,0.02"));
}

TEST(EvaluationOutput, ScoresHaveARowForEachImage) {
  EXPECT_EQ(scores_csv(judged()),
            "file,patient,labels,probability_Mass,probability_Nodule\n"
            "a.png,3,No Finding,0.25,0.1\n"
            "b.png,4,Mass,0.75,0.2\n");
  EXPECT_THAT(scores_csv(single()), HasSubstr("\nx/a.png,,,0.25,0.1\n"));
}

TEST(EvaluationOutput, JsonHasReliabilityCurves) {
  const auto json = nlohmann::json::parse(evaluation_json(judged()));
  EXPECT_EQ(json["images"], 2);
  EXPECT_EQ(json["left_out_of_means"], std::vector<std::string>{"Nodule"});
  EXPECT_EQ(json["mean"]["auroc"], 1);
  EXPECT_TRUE(json["labels"][1]["auroc"].is_null());
  const auto& curve = json["labels"][0]["reliability"];
  ASSERT_EQ(curve.size(), 10u);
  EXPECT_EQ(curve[7]["images"], 1);
  EXPECT_EQ(curve[7]["mean_probability"], 0.75);
  EXPECT_EQ(curve[7]["share_of_positives"], 1);
  EXPECT_TRUE(curve[0]["mean_probability"].is_null());
}

// Three images of exclusive classes; the last one is mistaken for the first class.
EvaluationResult judged_classes() {
  EvaluationResult result = judged();
  result.task = spec::Task::classes;
  result.labels = {"<cat>", "dog", "emu"};
  result.rows.resize(3);
  DataSetScores& scores = *result.data_set;
  scores.classes = measure::summarize_classes({{.label = 0, .patient = 0, .place = 1},
                                               {.label = 1, .patient = 1, .place = 1},
                                               {.label = 1, .patient = 2, .place = 2}},
                                              3);
  scores.confusions = {{.label = 1, .taken_for = 0, .images = 1}};
  scores.certainty = measure::reliability(std::vector<float>{0.95f, 0.95f, 0.55f}, std::vector<std::uint8_t>{1, 1, 0});
  return result;
}

TEST(EvaluationOutput, ExclusiveClassesHaveConfusionsAndTheCertaintyOfTheMostProbableOne) {
  const EvaluationResult result = judged_classes();
  const auto json = nlohmann::json::parse(evaluation_json(result));
  EXPECT_DOUBLE_EQ(json["top1"].get<double>(), 2.0 / 3);
  EXPECT_EQ(json["classes"][1]["top1"], 0.5);
  EXPECT_TRUE(json["classes"][2]["top1"].is_null());
  EXPECT_EQ(json["confusions"],
            nlohmann::json::parse(R"([{"class": "dog", "taken_for": "<cat>", "images": 1, "of_images": 2}])"));
  EXPECT_NEAR(json["calibration_error"].get<double>(), (0.05 + 0.05 + 0.55) / 3, 1e-6);
  EXPECT_EQ(json["reliability"][9]["images"], 2);
  EXPECT_THAT(evaluation_reliability_csv(result), HasSubstr("\nmost probable class,"));
  const std::string page = evaluation_html(result);
  EXPECT_THAT(page, HasSubstr(R"("taken_for":"\u003ccat>")"));
  EXPECT_THAT(page, HasSubstr("function addConfusions()"));
}

TEST(EvaluationOutput, SingleImagesHaveProbabilitiesAlone) {
  const std::string table = evaluation_table(single(), {});
  EXPECT_THAT(table, testing::ContainsRegex("x/a.png +Mass +0\\.2500\n"));
  EXPECT_THAT(table, Not(HasSubstr("AUROC")));
  const auto json = nlohmann::json::parse(evaluation_json(single()));
  EXPECT_EQ(json["images"][0]["probabilities"]["Mass"], 0.25);
  EXPECT_FALSE(json.contains("mean"));
}

std::vector<std::uint8_t> pixel(const std::vector<std::uint8_t>& rgb, int size, int x, int y) {
  const auto at = rgb.begin() + 3 * (y * size + x);
  return {at, at + 3};
}

TEST(ClassMapImage, IsBlueAtTheLeastAndRedAtTheLargestValue) {
  const std::vector<float> map{-3, 1, -1, 5};  // 2x2
  const std::vector<std::uint8_t> black(8 * 8, 0);
  const auto rgb = class_map_image(map, 2, 2, black, 8);
  ASSERT_EQ(rgb.size(), 8u * 8 * 3);
  EXPECT_THAT(pixel(rgb, 8, 0, 0), ElementsAre(0, 0, 64)) << "half of a dark blue";
  EXPECT_THAT(pixel(rgb, 8, 7, 7), ElementsAre(64, 0, 0));
}

TEST(ClassMapImage, EnlargesLinearlyFromTheMiddlesOfPlaces) {
  // The places' middles are at 0.25 and 0.75 of the width: 4 pixels lie at -0.25, 0.25, 0.75 and 1.25 places, and
  // positions outside have the value of the edge. So the levels are 0, 0.25, 0.75 and 1.
  const auto rgb = class_map_image(std::vector<float>{0, 1}, 1, 2, std::vector<std::uint8_t>(16, 0), 4);
  EXPECT_THAT(pixel(rgb, 4, 0, 2), ElementsAre(0, 0, 64));
  EXPECT_THAT(pixel(rgb, 4, 1, 2), ElementsAre(0, 64, 128));
  EXPECT_THAT(pixel(rgb, 4, 2, 2), ElementsAre(128, 64, 0));
  EXPECT_THAT(pixel(rgb, 4, 3, 2), ElementsAre(64, 0, 0));
}

TEST(ClassMapImage, KeepsHalfOfTheImage) {
  std::vector<std::uint8_t> gray(16, 100);
  gray[5] = 200;
  const auto rgb = class_map_image(std::vector<float>{0, 0, 0, 0}, 2, 2, gray, 4);
  EXPECT_THAT(pixel(rgb, 4, 1, 1), ElementsAre(100, 100, 164));
  EXPECT_THAT(pixel(rgb, 4, 0, 0), ElementsAre(50, 50, 114)) << "a map of one value";
}

}  // namespace
}  // namespace chexbench::verbs
