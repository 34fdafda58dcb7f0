#include "spec/profile.hpp"

#include <fmt/format.h>
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

// Returns a profile with one entry, in whose text `from` is replaced by `to`.
std::string profile_with(const std::string& from = "", const std::string& to = "") {
  std::string text = R"({
    "name": "p", "device": "a device",  // comments are allowed
    "entries": [{"model": "resnet50", "image_size": 224, "precision": "f32", "batch_size": 8, "images_per_s": 12.5,
                 "images_per_s_mad": 0.25, "includes_update": false, "update_s": 0.01, "includes_communication": true,
                 "backward_share": 0.5,
                 "source": "measured"}]})";
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string profile_error(const std::string& text) {
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
  EXPECT_EQ(entry.images_per_s_mad, 0.25);
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
  EXPECT_THAT(profile_error(profile_with("\"model\"", "\"modle\"")),
              AllOf(HasSubstr("p.json.entries[0]"), HasSubstr("did you mean 'model'?")));
  EXPECT_THAT(profile_error(profile_with("\"f32\"", "\"f33\"")), HasSubstr("p.json.entries[0].precision"));
  EXPECT_THAT(profile_error(profile_with("224", "0")), HasSubstr("p.json.entries[0].image_size"));
  EXPECT_THAT(profile_error(profile_with("12.5", "0")), HasSubstr("p.json.entries[0].images_per_s"));
  EXPECT_THAT(profile_error(profile_with("12.5", "\"fast\"")), HasSubstr("p.json.entries[0].images_per_s"));
  EXPECT_THAT(profile_error(profile_with("0.5", "1.5")), HasSubstr("p.json.entries[0].backward_share"));
  EXPECT_THAT(profile_error(profile_with("\"includes_update\": false, ")), HasSubstr("'includes_update' is missing"));
  EXPECT_THAT(profile_error("{}"), HasSubstr("'name' is missing"));
  EXPECT_THAT(profile_error("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(profile_error(R"({"name": "p", "device": "d", "entries": []})"), HasSubstr("at least one entry"));
  EXPECT_THAT(profile_error("{"), HasSubstr("p.json"));
}

TEST(Profile, NeedsASourceForEachFigure) {
  EXPECT_THAT(profile_error(profile_with("\"measured\"", "\"\"")), HasSubstr("source must not be empty"));
}

TEST(Profile, RefusesToCountTheUpdateTwice) {
  EXPECT_THAT(profile_error(profile_with("\"includes_update\": false", "\"includes_update\": true")),
              HasSubstr("count the update twice"));
}

// A profile with an entry for batch 2 and one for batch 6. A step takes 0.5 s + 0.25 s per image; the update takes
// 0.125 s and 0.25 s.
std::string profile_of_batches(const std::string& batches_6_includes = "false") {
  const auto entry = [](int batch, double images_per_s, double update_s, const std::string& communication) {
    return R"({"model": "resnet50", "image_size": 64, "precision": "f32", "batch_size": )" + std::to_string(batch) +
           R"(, "images_per_s": )" + std::to_string(images_per_s) + R"(, "images_per_s_mad": 0, "backward_share": )" +
           (batch == 2 ? "0.5" : "0.75") + R"(, "includes_update": false, "update_s": )" + std::to_string(update_s) +
           R"(, "includes_communication": )" + communication + R"(, "source": "s)" + std::to_string(batch) + "\"}";
  };
  return R"({"name": "p", "device": "d", "entries": [)" + entry(6, 3, 0.25, batches_6_includes) + ", " +
         entry(2, 2, 0.125, "false") + "]}";
}

ModelSpec small_model() {
  ModelSpec model;
  model.image_size = 64;
  return model;
}

TEST(Profile, RefusesTwoEntriesForTheSameStep) {
  std::string text = profile_of_batches();
  const std::string six = "\"batch_size\": 6";
  text.replace(text.find(six), six.size(), "\"batch_size\": 2");
  EXPECT_THAT(profile_error(text),
              AllOf(HasSubstr("entries[1]"), HasSubstr("a second entry for resnet50 64x64 f32 at batch 2")));
}

TEST(Profile, RefusesEntriesOfOneStepThatTellOfDifferentThings) {
  EXPECT_THAT(profile_error(profile_of_batches("true")),
              AllOf(HasSubstr("entries[1]"), HasSubstr("must be as in its entry for batch 6")));
}

TEST(Profile, GivesTheEntryOfABatchThatWasMeasured) {
  const AcceleratorProfile profile = parse_profile(profile_of_batches(), "p.json");
  const ProfileEntry entry = find_entry(profile, small_model(), Precision::f32, 6);
  EXPECT_EQ(entry.batch_size, 6);
  EXPECT_EQ(entry.images_per_s, 3);
  EXPECT_FALSE(entry.between.has_value());
}

TEST(Profile, InterpolatesStepTimesBetweenTwoBatches) {
  const AcceleratorProfile profile = parse_profile(profile_of_batches(), "p.json");
  const ProfileEntry entry = find_entry(profile, small_model(), Precision::f32, 4);
  EXPECT_EQ(entry.batch_size, 4);
  EXPECT_DOUBLE_EQ(entry.compute_s(), 1.5);  // interpolates 1 s at batch 2 and 2 s at batch 6
  EXPECT_DOUBLE_EQ(entry.update_s, 0.1875);
  EXPECT_DOUBLE_EQ(entry.backward_share * entry.compute_s(), 1.0);  // interpolates 0.5 s and 1.5 s
  EXPECT_FALSE(entry.images_per_s_mad.has_value());
  EXPECT_EQ(entry.source, "s2; s6");
  EXPECT_EQ(entry.between, std::make_pair(2, 6));
}

TEST(Profile, LeavesABatchOutsideThoseMeasuredToTheCallerToScale) {
  const AcceleratorProfile profile = parse_profile(profile_of_batches(), "p.json");
  EXPECT_EQ(find_entry(profile, small_model(), Precision::f32, 1).batch_size, 2);
  EXPECT_EQ(find_entry(profile, small_model(), Precision::f32, 64).batch_size, 6);
}

TEST(Profile, SaysWhichEntriesWereComputed) {
  EXPECT_FALSE(parse_profile(profile_with(), "p.json").entries[0].computed);
  const std::string text = profile_with("\"backward_share\"", "\"computed\": true, \"backward_share\"");
  EXPECT_TRUE(parse_profile(text, "p.json").entries[0].computed);
  EXPECT_THAT(profile_error(profile_with("\"backward_share\"", "\"computed\": 1, \"backward_share\"")),
              HasSubstr("p.json.entries[0].computed"));
}

TEST(Profile, ATimeBetweenAMeasuredAndAComputedOneIsComputed) {
  AcceleratorProfile profile = parse_profile(profile_of_batches(), "p.json");
  profile.entries[0].computed = true;
  EXPECT_TRUE(find_entry(profile, small_model(), Precision::f32, 4).computed);
  EXPECT_FALSE(find_entry(profile, small_model(), Precision::f32, 2).computed);
  EXPECT_TRUE(find_entry(profile, small_model(), Precision::f32, 64).computed);
}

const std::string kPeaks =
    R"("peaks": {"flops_per_s": {"f32": 4e12, "fp16": 1.25e14}, "bytes_per_s": 9e11, "source": "a data sheet"}, )";

TEST(Profile, MayGivePeakRates) {
  EXPECT_FALSE(parse_profile(profile_with(), "p.json").peaks.has_value());
  const AcceleratorProfile profile = parse_profile(profile_with("\"entries\"", kPeaks + "\"entries\""), "p.json");
  ASSERT_TRUE(profile.peaks.has_value());
  EXPECT_EQ(profile.peaks->flops_per_s,
            (std::map<Precision, double>{{Precision::f32, 4e12}, {Precision::fp16, 1.25e14}}));
  EXPECT_EQ(profile.peaks->bytes_per_s, 9e11);
  EXPECT_EQ(profile.peaks->source, "a data sheet");
}

TEST(Profile, NamesWhatIsWrongInPeakRates) {
  const auto error_with = [](const std::string& peaks) {
    return profile_error(profile_with("\"entries\"", "\"peaks\": " + peaks + ", \"entries\""));
  };
  EXPECT_THAT(error_with(R"({"flops_per_s": {"f33": 1}, "bytes_per_s": 1, "source": "s"})"),
              AllOf(HasSubstr("p.json.peaks.flops_per_s"), HasSubstr("f32")));
  EXPECT_THAT(error_with(R"({"flops_per_s": {}, "bytes_per_s": 1, "source": "s"})"), HasSubstr("at least one of f32"));
  EXPECT_THAT(error_with(R"({"flops_per_s": {"f32": 0}, "bytes_per_s": 1, "source": "s"})"),
              HasSubstr("flops_per_s.f32"));
  EXPECT_THAT(error_with(R"({"flops_per_s": {"f32": 1}, "bytes_per_s": 0, "source": "s"})"), HasSubstr("bytes_per_s"));
  EXPECT_THAT(error_with(R"({"flops_per_s": {"f32": 1}, "bytes_per_s": 1})"), HasSubstr("'source' is missing"));
}

TEST(Profile, IsTheSameAfterBeingWrittenAndRead) {
  const std::string computed = profile_with("\"backward_share\"", "\"computed\": true, \"backward_share\"");
  for (const std::string& text :
       {profile_of_batches(), profile_with(), computed, profile_with("\"entries\"", kPeaks + "\"entries\"")}) {
    const AcceleratorProfile profile = parse_profile(text, "p.json");
    const AcceleratorProfile again = parse_profile(to_json(profile), "again.json");
    EXPECT_EQ(to_json(again), to_json(profile));
    ASSERT_EQ(again.entries.size(), profile.entries.size());
    EXPECT_EQ(again.entries[0].images_per_s, profile.entries[0].images_per_s);
    EXPECT_EQ(again.entries[0].images_per_s_mad, profile.entries[0].images_per_s_mad);
    EXPECT_EQ(again.entries[0].update_s, profile.entries[0].update_s);
    EXPECT_EQ(again.entries[0].computed, profile.entries[0].computed);
    EXPECT_EQ(again.entries[0].source, profile.entries[0].source);
    EXPECT_EQ(again.peaks.has_value(), profile.peaks.has_value());
  }
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

TEST(Profile, OfAStorageBenchmarkHasTheBytesOfARecord) {
  const ProfileEntry entry = load_profile("dlio-b200").entries.at(0);
  EXPECT_NEAR(entry.compute_s(), 0.04755, 1e-9);
  EXPECT_EQ(entry.record_bytes, 322957);
  const AcceleratorProfile again = parse_profile(to_json(load_profile("dlio-b200")), "again.json");
  EXPECT_EQ(again.entries.at(0).record_bytes, 322957);
  EXPECT_FALSE(load_profile("v100").entries.at(0).record_bytes);
}

// Returns the text without thousands separators.
std::string plain(std::string text) {
  std::erase(text, ',');
  return text;
}

TEST(Profile, EverySourceOfABuiltInOneStatesTheFigureOrHowItWasComputed) {
  for (const std::string& name : profile_names()) {
    for (const ProfileEntry& entry : load_profile(name).entries) {
      EXPECT_EQ(entry.source.starts_with("computed, not measured: "), entry.computed) << name;
      if (entry.computed) continue;
      EXPECT_THAT(plain(entry.source), HasSubstr(fmt::format("{:.9g} images/s", entry.images_per_s))) << name;
    }
  }
}

TEST(Profile, GivesNothingThatNoSourceGives) {
  EXPECT_THAT(profile_names(), testing::IsSupersetOf({"a100", "h100", "h200", "k40", "k80", "p100", "p40", "v100"}));
  ModelSpec model;
  EXPECT_EQ(find_entry(load_profile("a100"), model, Precision::tf32, 512).images_per_s, 1055.78);
  EXPECT_EQ(find_entry(load_profile("k80"), model, Precision::f32, 48).between, std::make_pair(32, 64));
  EXPECT_THROW(find_entry(load_profile("a100"), model, Precision::f32, 512), SpecError);
  EXPECT_THROW(find_entry(load_profile("h100"), model, Precision::bf16, 64), SpecError);
  model.name = "alexnet";
  EXPECT_EQ(find_entry(load_profile("k80"), model, Precision::f32, 512).images_per_s, 656);
  EXPECT_EQ(find_entry(load_profile("p100"), model, Precision::f32, 512).images_per_s, 2987);
  EXPECT_EQ(find_entry(load_profile("v100"), model, Precision::f32, 256).images_per_s, 2994.32);
  EXPECT_THROW(find_entry(load_profile("v100"), model, Precision::fp16, 512), SpecError);
  EXPECT_THROW(find_entry(load_profile("p40"), model, Precision::f32, 512), SpecError);
  model.name = "densenet121";
  EXPECT_EQ(find_entry(load_profile("h200"), model, Precision::fp16, 64).images_per_s, 5562.5);
  EXPECT_THROW(find_entry(load_profile("h200"), model, Precision::bf16, 64), SpecError);
}

TEST(Profile, V100HasTheFiguresOfItsSources) {
  const AcceleratorProfile v100 = load_profile("v100");
  ModelSpec model;
  EXPECT_EQ(find_entry(v100, model, Precision::f32, 64).images_per_s, 384);
  EXPECT_EQ(find_entry(v100, model, Precision::fp16, 64).images_per_s, 1376);
  model.name = "densenet121";
  model.image_size = 256;
  EXPECT_EQ(find_entry(v100, model, Precision::f32, 64).images_per_s, 185);
  model.image_size = 224;
  EXPECT_EQ(find_entry(v100, model, Precision::f32, 64).images_per_s, 223.9);
  model.name = "mobilenet_v2";
  EXPECT_TRUE(find_entry(v100, model, Precision::fp16, 64).computed);
}

TEST(Profile, OfEachOldGpuHasABatchForEachNetworkOfTheStudies) {
  ModelSpec model;
  for (const char* const gpu : {"k40", "k80", "p100"}) {
    for (const char* const network : {"alexnet", "googlenet", "resnet50"}) {
      model.name = network;
      for (const int batch : {64, 128, 256, 512})
        EXPECT_NO_THROW(find_entry(load_profile(gpu), model, Precision::f32, batch));
    }
  }
  for (const char* const gpu : {"k80", "p40", "p100", "v100"}) {
    for (const char* const network : {"resnet50", "mobilenet_v2", "densenet121"}) {
      model.name = network;
      EXPECT_NO_THROW(find_entry(load_profile(gpu), model, Precision::f32, 64));
    }
  }
}

TEST(Profile, TellsWhatItHasWhereItLacksAnEntry) {
  ModelSpec model;
  model.image_size = 512;
  try {
    find_entry(load_profile("v100"), model, Precision::bf16, 64);
    FAIL() << "no error";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("resnet50 512x512 bf16"), HasSubstr("resnet50 224x224 f32"),
                                    HasSubstr("densenet121 256x256 f32")));
  }
}

}  // namespace
}  // namespace chexbench::spec
