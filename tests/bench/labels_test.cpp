// Labels in the loss: exclusive classes, and the weight of each class.
#include "bench/training/validation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

dataset::Dataset images_with(const std::vector<std::uint64_t>& labels) {
  dataset::Dataset images;
  images.label_names = {"Cat", "Dog"};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    images.images.push_back(
        {.name = fmt::format("{}.png", i), .path = {}, .labels = labels[i], .patient = static_cast<std::uint32_t>(i)});
  }
  return images;
}

spec::TrialSpec weighted(const std::string& weights, spec::Task task = spec::Task::multi_label) {
  spec::TrialSpec spec;
  spec.data.root = "pets";
  spec.training.task = task;
  spec.training.class_weights = weights;
  return spec;
}

TEST(Task, OfClassesNeedsExactlyOneLabelAnImage) {
  const spec::TrialSpec classes = weighted("none", spec::Task::classes);
  check_task(classes, images_with({0b01, 0b10}));
  EXPECT_THAT(message_of<DataError>([&] {
                check_task(classes, images_with({0b01, 0b11}));
              }),
              HasSubstr("but 1.png of pets has 2, among them 'Cat' and 'Dog'"));
  EXPECT_THAT(message_of<DataError>([&] {
                check_task(classes, images_with({0b01, 0b00}));
              }),
              HasSubstr("but 1.png of pets has none: its labels are no exclusive classes; set training.task to "
                        "multi_label"));
  check_task(weighted("none"), images_with({0b01, 0b11, 0b00}));
}

TEST(ClassWeights, AreNothingUnlessTheyAreStated) {
  EXPECT_THAT(class_weights(weighted("none"), images_with({0b01})), IsEmpty());
}

TEST(ClassWeights, OneNumberIsForAll) {
  EXPECT_THAT(class_weights(weighted("2.5"), images_with({0b01})), ElementsAre(2.5f, 2.5f));
  EXPECT_THAT(class_weights(weighted("1,3"), images_with({0b01})), ElementsAre(1.0f, 3.0f));
  EXPECT_THAT(message_of<SpecError>([&] { class_weights(weighted("1,2,3"), images_with({0b01})); }),
              HasSubstr("training.class_weights has 3 numbers, and the images have 2 labels"));
}

TEST(ClassWeights, BalancePositivesAndNegativesOrClasses) {
  const dataset::Dataset images = images_with({0b01, 0b10, 0b10, 0b10});
  EXPECT_THAT(class_weights(weighted("balanced"), images), ElementsAre(3.0f, testing::FloatEq(1.0f / 3)));
  EXPECT_THAT(class_weights(weighted("balanced", spec::Task::classes), images),
              ElementsAre(2.0f, testing::FloatEq(2.0f / 3)));
}

TEST(ClassWeights, BalanceByTheImagesOfWhichTheLabelIsKnown) {
  dataset::Dataset images = images_with({0b01, 0b10, 0b10, 0b00});
  images.images.back().labels.ignore(1);  // one of the three others lacks it
  EXPECT_THAT(class_weights(weighted("balanced"), images), ElementsAre(3.0f, testing::FloatEq(0.5f)));
}

TEST(ClassWeights, BalanceByTheImagesThatTrainAlone) {
  std::vector<std::uint64_t> labels;
  for (std::size_t i = 0; i < 400; ++i) labels.push_back(i % 4 == 0 ? 0b01 : 0b10);
  spec::TrialSpec spec = weighted("balanced");
  const std::vector<float> of_all = class_weights(spec, images_with(labels));
  spec.training.epochs = 1;
  spec.training.validation_share = 0.5;
  const std::vector<float> of_part = class_weights(spec, images_with(labels));
  EXPECT_THAT(of_all, ElementsAre(3.0f, testing::FloatEq(1.0f / 3)));
  EXPECT_NE(of_part, of_all);
}

TEST(ClassWeights, ThatNothingBalancesAreRefused) {
  EXPECT_THAT(message_of<DataError>([] {
                class_weights(weighted("balanced"), images_with({0b01, 0b00}));
              }),
              HasSubstr("none of the 2 images that train has 'Dog', so nothing balances it"));
  EXPECT_THAT(message_of<DataError>([] {
                class_weights(weighted("balanced"), images_with({0b11, 0b01}));
              }),
              HasSubstr("each of the 2 images that train has 'Cat'"));
}

}  // namespace
}  // namespace chexbench::bench
