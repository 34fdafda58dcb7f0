#include "dataset/make/synth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/dataset.hpp"
#include "dataset/index_report.hpp"
#include "image/png/png_file.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

double share(const std::vector<SynthImage>& plan, const std::function<bool(const SynthImage&)>& has) {
  return static_cast<double>(std::count_if(plan.begin(), plan.end(), has)) / static_cast<double>(plan.size());
}

TEST(SynthPlan, HasThePublishedFrequencies) {
  const std::vector<SynthImage> plan = plan_synthetic_set(60000, 1);
  EXPECT_NEAR(share(plan, [](const SynthImage& i) { return i.labels.empty(); }), 0.538, 0.01);
  const std::array<double, kNihLabels> published = {0.1031, 0.0248, 0.1188, 0.1774, 0.0516, 0.0565, 0.0128,
                                                    0.0473, 0.0416, 0.0205, 0.0224, 0.0150, 0.0302, 0.0020};
  for (unsigned f = 0; f < kNihLabels; ++f) {
    EXPECT_NEAR(share(plan, [f](const SynthImage& i) { return i.labels.has(f); }), published[f],
                0.1 * published[f] + 0.0005)
        << kNihLabelNames[f];
  }
  EXPECT_NEAR(60000.0 / plan.back().patient, 3.64, 0.15);
  EXPECT_NEAR(share(plan, [](const SynthImage& i) { return i.test; }), 0.228, 0.02);
}

TEST(SynthPlan, KeepsAPatientInOneList) {
  std::map<std::uint32_t, bool> tests;
  for (const SynthImage& image : plan_synthetic_set(2000, 5)) {
    EXPECT_EQ(tests.try_emplace(image.patient, image.test).first->second, image.test) << image.name;
  }
}

TEST(SynthPlan, GivesSmallSetsBothLists) {
  const std::vector<SynthImage> plan = plan_synthetic_set(24, 1);
  EXPECT_EQ(plan.size(), 24u);
  EXPECT_FALSE(plan.front().test);
  EXPECT_GT(share(plan, [](const SynthImage& i) { return i.test; }), 0);
  EXPECT_EQ(plan_synthetic_set(1, 1).size(), 1u);
}

TEST(SynthPlan, NamesImagesInOrderAndOnce) {
  const std::vector<SynthImage> plan = plan_synthetic_set(3000, 2);
  for (std::size_t i = 1; i < plan.size(); ++i) ASSERT_LT(plan[i - 1].name, plan[i].name);
}

TEST(SynthPlan, IsAFunctionOfTheSeed) {
  const auto labels = [](std::uint64_t seed) {
    std::vector<LabelBits> all;
    for (const SynthImage& image : plan_synthetic_set(200, seed)) all.push_back(image.labels);
    return all;
  };
  EXPECT_EQ(labels(1), labels(1));
  EXPECT_NE(labels(1), labels(2));
}

class SynthSetTest : public testing::Test {
 protected:
  SynthOptions options(int images, std::uint64_t seed = 1) {
    return {.directory = folder_ / "set", .images = images, .size = 64, .seed = seed, .threads = 2};
  }
  std::map<std::string, std::string> files(const std::string& root) {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file()) contents[fs::relative(entry.path(), root)] = read_text(entry.path());
    }
    return contents;
  }
  ScratchFolder folder_;
};

TEST_F(SynthSetTest, IsADataSetWithoutGaps) {
  const SynthResult result = write_synthetic_set(options(60));
  const IndexReport report = report_index(folder_ / "set");
  EXPECT_EQ(report.rows, 60u);
  EXPECT_EQ(report.files, 60u);
  EXPECT_EQ(report.patients, result.patients);
  EXPECT_EQ(report.file_bytes, result.bytes);
  EXPECT_TRUE(report.missing.empty() && report.orphans.empty() && report.listed_without_row.empty());
  EXPECT_EQ(report.patients_in_both_splits, std::vector<std::string>());
  EXPECT_EQ(report.in_no_split, 0u);
  EXPECT_GT(report.train.files, 0u);
  EXPECT_GT(report.test.files, 0u);
}

TEST_F(SynthSetTest, HasTheSameBytesAtAnyNumberOfThreads) {
  SynthOptions one = options(20), four = options(20);
  one.directory = folder_ / "one";
  one.threads = 1;
  four.directory = folder_ / "four";
  four.threads = 4;
  write_synthetic_set(one);
  write_synthetic_set(four);
  EXPECT_EQ(files(one.directory), files(four.directory));
}

TEST_F(SynthSetTest, MixesTheStylesOfPublishedFiles) {
  write_synthetic_set(options(60));
  std::map<std::string, int> styles;
  storage::ByteBuffer buffer;
  image::PngFile png;
  for (const std::string& name : names_in(folder_ / "set/images")) {
    image::parse_png(storage::read_file(folder_ / ("set/images/" + name), buffer), name, png);
    EXPECT_EQ(png.width, 64);
    const int header = static_cast<int>(png.image_data[0][0]) << 8 | static_cast<int>(png.image_data[0][1]);
    ++styles[png.color_type == 6 ? "rgba" : header == 0x789c ? "published" : header == 0x7801 ? "resaved" : "other"];
  }
  EXPECT_EQ(styles["rgba"], 1);
  EXPECT_EQ(styles["resaved"], 12);
  EXPECT_EQ(styles["published"], 47);
}

TEST_F(SynthSetTest, GoesOnWithAnInterruptedSet) {
  write_synthetic_set(options(20));
  const auto before = files(folder_ / "set");
  fs::remove(folder_ / "set/Data_Entry_2017.csv");
  fs::remove(folder_ / "set/images/00000001_000.png");
  EXPECT_EQ(write_synthetic_set(options(20)).written, 1u);
  EXPECT_EQ(files(folder_ / "set"), before);
}

TEST_F(SynthSetTest, RefusesAFolderWithAnotherSet) {
  write_synthetic_set(options(5));
  EXPECT_THAT(message_of<OutputError>([&] { write_synthetic_set(options(5, 2)); }), HasSubstr("other options"));
  EXPECT_THAT(message_of<OutputError>([&] { write_synthetic_set(options(6)); }), HasSubstr("other options"));
}

TEST_F(SynthSetTest, RefusesAFolderWithAnythingElse) {
  write_text(folder_ / "set/thesis.txt", "precious");
  EXPECT_THAT(message_of<OutputError>([&] { write_synthetic_set(options(5)); }), HasSubstr("not a synthetic set"));
  EXPECT_EQ(names_in(folder_ / "set").size(), 1u);
}

TEST_F(SynthSetTest, RefusesSizesOutOfRange) {
  EXPECT_THROW(write_synthetic_set(options(0)), SpecError);
  SynthOptions small = options(1);
  small.size = 31;
  EXPECT_THROW(write_synthetic_set(small), SpecError);
}

TEST_F(SynthSetTest, FilesOfFullSizeWeighWhatNihsDo) {
  SynthOptions full = options(10);
  full.size = 1024;
  const SynthResult result = write_synthetic_set(full);
  EXPECT_NEAR(static_cast<double>(result.bytes) / 10, 420e3, 60e3);
}

}  // namespace
}  // namespace chexbench::dataset
