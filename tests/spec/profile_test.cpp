#include "spec/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/errors.hpp"

namespace chexbench::spec {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A profile with one entry, in which `from` is replaced by `to`.
std::string profile_with(const std::string& from = "", const std::string& to = "") {
  std::string text = R"({
    "name": "p", "device": "a device",  // comments are allowed
    "entries": [{"model": "resnet50", "image_size": 224, "precision": "f32", "batch_size": 8, "images_per_s": 12.5,
                 "includes_update": false, "update_s": 0.01, "includes_communication": true, "backward_share": 0.5,
                 "source": "measured"}]})";
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  try {
    parse_profile(text, "p.json");
  } catch (const SpecError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Profile, IsReadWithAllItsKeys) {
  const AcceleratorProfile profile = parse_profile(profile_with(), "p.json");
  EXPECT_EQ(profile.name, "p");
  EXPECT_EQ(profile.device, "a device");
  ASSERT_EQ(profile.entries.size(), 1u);
  const ProfileEntry& entry = profile.entries.front();
  EXPECT_EQ(entry.model, "resnet50");
  EXPECT_EQ(entry.image_size, 224);
  EXPECT_EQ(entry.precision, Precision::f32);
  EXPECT_EQ(entry.batch_size, 8);
  EXPECT_EQ(entry.images_per_s, 12.5);
  EXPECT_EQ(entry.update_s, 0.01);
  EXPECT_EQ(entry.backward_share, 0.5);
  EXPECT_FALSE(entry.includes_update);
  EXPECT_TRUE(entry.includes_communication);
  EXPECT_EQ(entry.source, "measured");
}

TEST(Profile, BackwardTakesTwoThirdsUnlessItSaysOtherwise) {
  EXPECT_DOUBLE_EQ(parse_profile(profile_with(R"("backward_share": 0.5,)"), "").entries[0].backward_share, 2.0 / 3);
}

TEST(Profile, NamesWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of(profile_with("\"model\"", "\"modle\"")),
              AllOf(HasSubstr("p.json.entries[0]"), HasSubstr("did you mean 'model'?")));
  EXPECT_THAT(error_of(profile_with("\"f32\"", "\"f33\"")), HasSubstr("p.json.entries[0].precision"));
  EXPECT_THAT(error_of(profile_with("224", "0")), HasSubstr("p.json.entries[0].image_size"));
  EXPECT_THAT(error_of(profile_with("12.5", "0")), HasSubstr("p.json.entries[0].images_per_s"));
  EXPECT_THAT(error_of(profile_with("12.5", "\"fast\"")), HasSubstr("p.json.entries[0].images_per_s"));
  EXPECT_THAT(error_of(profile_with("0.5", "1.5")), HasSubstr("p.json.entries[0].backward_share"));
  EXPECT_THAT(error_of(profile_with("\"includes_update\": false, ")), HasSubstr("'includes_update' is missing"));
  EXPECT_THAT(error_of("{}"), HasSubstr("'name' is missing"));
  EXPECT_THAT(error_of("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(error_of(R"({"name": "p", "device": "d", "entries": []})"), HasSubstr("at least one entry"));
  EXPECT_THAT(error_of("{"), HasSubstr("p.json"));
}

TEST(Profile, NeedsASourceForEachFigure) {
  EXPECT_THAT(error_of(profile_with("\"measured\"", "\"\"")), HasSubstr("source must not be empty"));
}

TEST(Profile, RefusesToCountTheUpdateTwice) {
  EXPECT_THAT(error_of(profile_with("\"includes_update\": false", "\"includes_update\": true")),
              HasSubstr("count the update twice"));
}

TEST(Profile, RefusesTwoEntriesForTheSameStep) {
  const std::string entry =
      R"({"model": "resnet50", "image_size": 64, "precision": "f32", "batch_size": 1, "images_per_s": 1,
          "includes_update": true, "includes_communication": false, "source": "s"})";
  EXPECT_THAT(error_of(R"({"name": "p", "device": "d", "entries": [)" + entry + "," + entry + "]}"),
              AllOf(HasSubstr("entries[1]"), HasSubstr("a second entry for resnet50 64x64 f32")));
}

TEST(Profile, IsFoundByNameOrByPath) {
  const std::string path = testing::TempDir() + "chexbench_profile_test_" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << profile_with();
  EXPECT_EQ(load_profile(path).name, "p");
  std::filesystem::remove(path);
  EXPECT_THROW(load_profile(path), SpecError);
  EXPECT_THROW(load_profile("h2000"), SpecError);
}

TEST(Profile, EveryBuiltInOneIsValidAndCalledLikeItsFile) {
  EXPECT_THAT(profile_names(), testing::Contains("v100"));
  for (const std::string& name : profile_names()) EXPECT_EQ(load_profile(name).name, name);
}

TEST(Profile, V100HasTheFiguresOfItsSources) {
  const AcceleratorProfile v100 = load_profile("v100");
  ModelSpec model;
  EXPECT_EQ(find_entry(v100, model, Precision::f32).images_per_s, 384);
  EXPECT_EQ(find_entry(v100, model, Precision::fp16).images_per_s, 1376);
  model.name = "densenet121";
  model.image_size = 256;
  EXPECT_EQ(find_entry(v100, model, Precision::f32).images_per_s, 185);
  model.image_size = 224;
  EXPECT_THAT(find_entry(v100, model, Precision::f32).source, HasSubstr("computed"));
}

TEST(Profile, TellsWhatItHasWhereItLacksAnEntry) {
  ModelSpec model;
  model.image_size = 512;
  try {
    find_entry(load_profile("v100"), model, Precision::bf16);
    FAIL() << "no error";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("resnet50 512x512 bf16"), HasSubstr("resnet50 224x224 f32"),
                                    HasSubstr("densenet121 256x256 f32")));
  }
}

}  // namespace
}  // namespace chexbench::spec
