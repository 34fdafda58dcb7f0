#include "verbs/model/roofline.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "model/networks.hpp"
#include "model/roofline.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kFlopsPerS = 1e12;
constexpr double kBytesPerS = 1e11;

double peak_images_per_s(const std::string& model, int image_size, int batch_size) {
  const model::Graph graph = model::make_network(model, image_size);
  const model::Roofs roofs{kFlopsPerS, kBytesPerS};
  return batch_size / (model::roofline_s(graph, batch_size, 4, roofs) + model::update_work(graph).seconds(roofs));
}

// Returns a sourced entry that reaches this share of the roofline.
spec::ProfileEntry sourced(const std::string& model, int image_size, int batch_size, double efficiency) {
  return {.model = model,
          .image_size = image_size,
          .batch_size = batch_size,
          .images_per_s = efficiency * peak_images_per_s(model, image_size, batch_size),
          .source = "a publication"};
}

spec::AcceleratorProfile profile_of(std::vector<spec::ProfileEntry> entries) {
  return {
      .name = "p",
      .device = "a device",
      .entries = std::move(entries),
      .peaks = spec::PeakRates{
          .flops_per_s = {{spec::Precision::f32, kFlopsPerS}}, .bytes_per_s = kBytesPerS, .source = "a data sheet"}};
}

const spec::AcceleratorProfile kProfile =
    profile_of({sourced("resnet50", 224, 32, 0.5), sourced("resnet50", 224, 128, 0.6), sourced("alexnet", 224, 64, 0.8),
                sourced("alexnet", 64, 64, 0.9)});

RooflineEntry computed(const spec::AcceleratorProfile& profile, const std::string& model, int image_size, int batch) {
  return compute_roofline(profile, {.model = model, .image_size = image_size, .batch_sizes = {batch}}).entries.at(0);
}

std::string error_of(const spec::AcceleratorProfile& profile, const RooflineRequest& request) {
  return message_of<SpecError>([&] { compute_roofline(profile, request); });
}

TEST(ComputedRoofline, TakesTheMedianOfOtherNetworksAtTheNearestBatch) {
  const RooflineEntry small = computed(kProfile, "googlenet", 224, 16);
  EXPECT_NEAR(small.efficiency, (0.5 + 0.8) / 2, 1e-9);
  EXPECT_NEAR(small.entry.images_per_s / peak_images_per_s("googlenet", 224, 16), 0.65, 1e-3);
  EXPECT_NEAR(computed(kProfile, "googlenet", 224, 100).efficiency, (0.6 + 0.8) / 2, 1e-9);
  EXPECT_NEAR(computed(kProfile, "googlenet", 64, 16).efficiency, (0.5 + 0.9) / 2, 1e-9);
}

TEST(ComputedRoofline, PrefersTheNetworkItself) {
  EXPECT_NEAR(computed(kProfile, "alexnet", 224, 512).efficiency, 0.8, 1e-9);
  EXPECT_NEAR(computed(kProfile, "alexnet", 96, 64).efficiency, 0.9, 1e-9);
  EXPECT_THAT(computed(kProfile, "alexnet", 96, 64).entry.source, HasSubstr("0.900 of alexnet 64x64 at batch 64"));
}

TEST(ComputedRoofline, NeverTakesTheEntryThatItIsComparedWith) {
  EXPECT_NEAR(computed(kProfile, "resnet50", 224, 32).efficiency, 0.6, 1e-9);
  EXPECT_NEAR(
      computed(profile_of({sourced("resnet50", 224, 32, 0.5), sourced("alexnet", 224, 64, 0.8)}), "resnet50", 224, 32)
          .efficiency,
      0.8, 1e-9);
}

TEST(ComputedRoofline, TakesNothingFromComputedEntriesOrThoseWithCommunication) {
  spec::ProfileEntry no_source = sourced("alexnet", 224, 64, 0.1);
  no_source.computed = true;
  spec::ProfileEntry several_gpus = sourced("mobilenet_v2", 224, 64, 0.2);
  several_gpus.includes_communication = true;
  spec::ProfileEntry not_ours = sourced("densenet121", 224, 64, 0.3);
  not_ours.model = "vgg16";
  const auto profile = profile_of({sourced("resnet50", 224, 64, 0.5), no_source, several_gpus, not_ours});
  EXPECT_NEAR(computed(profile, "googlenet", 224, 64).efficiency, 0.5, 1e-9);
  EXPECT_EQ(compute_roofline(profile, {.model = "googlenet"}).checks.size(), 1u);
}

TEST(ComputedRoofline, LeavesTheUpdateOutWhereSourcesDo) {
  const model::Graph graph = model::make_network("alexnet", 224);
  const model::Roofs roofs{kFlopsPerS, kBytesPerS};
  spec::ProfileEntry apart = sourced("alexnet", 224, 64, 1);
  apart.includes_update = false;
  apart.images_per_s = 0.5 * 64 / model::roofline_s(graph, 64, 4, roofs);
  const RooflineEntry same = computed(profile_of({apart}), "alexnet", 224, 32);
  EXPECT_NEAR(same.efficiency, 0.5, 1e-9);
  EXPECT_FALSE(same.entry.includes_update);
  EXPECT_NEAR(same.entry.images_per_s, 0.5 * 32 / model::roofline_s(graph, 32, 4, roofs), 0.1);
  EXPECT_NEAR(same.entry.update_s, model::update_work(graph).seconds(roofs) / 0.5, 1e-4);
  const RooflineEntry other = computed(profile_of({apart}), "googlenet", 224, 64);
  EXPECT_NEAR(other.efficiency, 0.5, 1e-9);
  EXPECT_TRUE(other.entry.includes_update);
}

TEST(ComputedRoofline, GivesAnEntryForAProfile) {
  const spec::ProfileEntry entry = computed(kProfile, "googlenet", 224, 64).entry;
  EXPECT_TRUE(entry.computed);
  EXPECT_TRUE(entry.includes_update);
  EXPECT_FALSE(entry.includes_communication);
  EXPECT_TRUE(entry.source.starts_with("computed, not measured: ")) << entry.source;
  spec::AcceleratorProfile extended = kProfile;
  extended.entries.push_back(entry);
  EXPECT_EQ(spec::parse_profile(spec::to_json(extended), "p.json").entries.back().images_per_s, entry.images_per_s);
}

TEST(ComputedRoofline, ChecksEachSourcedEntryByOthers) {
  const std::vector<RooflineCheck> checks = compute_roofline(kProfile, {.model = "googlenet"}).checks;
  ASSERT_EQ(checks.size(), 4u);
  EXPECT_NEAR(*checks[0].by_own_network / checks[0].entry.images_per_s, 0.6 / 0.5, 1e-9);
  EXPECT_NEAR(*checks[0].by_other_networks / checks[0].entry.images_per_s, 0.8 / 0.5, 1e-9);
  EXPECT_NEAR(*checks[3].by_other_networks / checks[3].entry.images_per_s, 0.5 / 0.9, 1e-9);
  EXPECT_NEAR(*median_misfit(checks, &RooflineCheck::by_own_network), (0.6 / 0.5 + 0.9 / 0.8) / 2, 0.04);
  const auto alone = compute_roofline(profile_of({sourced("resnet50", 224, 64, 0.5)}), {.model = "googlenet"}).checks;
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_FALSE(alone[0].by_own_network || alone[0].by_other_networks);
  EXPECT_FALSE(median_misfit(alone, &RooflineCheck::by_other_networks));
}

TEST(ComputedRoofline, SaysWhatIsMissing) {
  EXPECT_THAT(error_of(kProfile, {.model = "resnet5"}), HasSubstr("resnet50"));
  EXPECT_THAT(error_of(kProfile, {.model = "googlenet", .precision = spec::Precision::fp16}),
              AllOf(HasSubstr("--precision"), HasSubstr("no peak FLOP/s for fp16"), HasSubstr("f32")));
  spec::AcceleratorProfile profile = kProfile;
  profile.entries = {kProfile.entries[0]};
  profile.entries[0].precision = spec::Precision::tf32;
  EXPECT_THAT(error_of(profile, {.model = "googlenet"}), HasSubstr("no sourced entry in f32"));
  profile.peaks.reset();
  EXPECT_THAT(error_of(profile, {.model = "googlenet"}), HasSubstr("gives no 'peaks'"));
}

TEST(ComputedRoofline, IsPrintedForPeopleAndForPrograms) {
  const Roofline roofline = compute_roofline(kProfile, {.model = "googlenet", .batch_sizes = {32, 64}});
  const std::string table = roofline_table(roofline);
  EXPECT_THAT(table, AllOf(HasSubstr("computed, not measured"), HasSubstr("\"computed\": true"),
                           HasSubstr("median misfit: by the same network a factor of 1.")));
  const auto object = nlohmann::json::parse(roofline_json(roofline));
  ASSERT_EQ(object["entries"].size(), 2u);
  EXPECT_EQ(object["entries"][0]["batch_size"], 32);
  EXPECT_EQ(object["entries"][0]["computed"], true);
  EXPECT_EQ(object["checks"].size(), 4u);
  EXPECT_GT(object["median_misfit_by_other_networks"], 1.0);
}

TEST(ComputedRoofline, ReckonsByProportionToAnotherDevice) {
  spec::AcceleratorProfile other = profile_of(
      {sourced("resnet50", 224, 64, 0.8), sourced("mobilenet_v2", 224, 64, 0.2), sourced("alexnet", 224, 64, 1)});
  other.name = "q";
  const std::vector<spec::AcceleratorProfile> others{other, kProfile};  // the profile itself does not count twice
  const auto efficiency = [&others](const char* model) {
    return compute_roofline(kProfile, {.model = model, .batch_sizes = {32}}, others).entries.at(0).efficiency;
  };
  EXPECT_NEAR(efficiency("mobilenet_v2"), (0.5 * 0.2 / 0.8 + 0.8 * 0.2 / 1) / 2, 1e-9);
  EXPECT_NEAR(efficiency("googlenet"), 0.65, 1e-9) << "the other device does not have it";
  EXPECT_NEAR(efficiency("alexnet"), 0.8, 1e-9) << "it is known here";
  const std::vector<RooflineCheck> checks = compute_roofline(kProfile, {.model = "googlenet"}, others).checks;
  ASSERT_EQ(checks.size(), 4u);
  EXPECT_NEAR(*checks[0].by_proportion / checks[0].entry.images_per_s, 0.8 * 0.8 / 1 / 0.5, 1e-9);
}

// The computed entries of the built-in profiles are what this code computes, figure and words.
TEST(BuiltInProfiles, HaveTheComputedEntriesThatTheFormulaGives) {
  const std::vector<spec::AcceleratorProfile> profiles = built_in_profiles();
  int entries = 0;
  for (const spec::AcceleratorProfile& profile : profiles) {
    for (const spec::ProfileEntry& entry : profile.entries) {
      if (!entry.computed) continue;
      const Roofline again = compute_roofline(profile,
                                              {.model = entry.model,
                                               .image_size = entry.image_size,
                                               .precision = entry.precision,
                                               .batch_sizes = {entry.batch_size}},
                                              profiles);
      EXPECT_EQ(spec::entry_json(entry), spec::entry_json(again.entries.at(0).entry)) << profile.name;
      ++entries;
    }
  }
  EXPECT_GT(entries, 0);
}

}  // namespace
}  // namespace chexbench::verbs
