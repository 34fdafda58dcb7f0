// What differs between two sides: machines, hosts and settings, and what --vary declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "results/record_factory.hpp"
#include "verbs/compare/compare.hpp"
#include "verbs/compare_sides.hpp"

namespace chexbench::verbs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(CompareRuns, AreNotComparableOnUnlikeMachines) {
  const Side base = side({results::make_trial({}, kBase)});
  Side other = base;
  other.runs[0].environment.cpu = "Another CPU";
  other.runs[0].environment.gpus = {"NVIDIA H100"};
  const RunComparison comparison = compare_runs(base, other, {});
  EXPECT_EQ(comparison.arms.at(0).verdict, Verdict::not_comparable);
  EXPECT_THAT(keys(comparison.environment), ElementsAre("cpu", "gpus"));
  EXPECT_EQ(only_arm(base, other, {.across_machines = true}).verdict, Verdict::same);
}

TEST(CompareRuns, OfOneSideMustComeFromOneMachine) {
  Side base = runs({100, 100});
  base.runs[1].environment.cores = 64;
  const RunComparison comparison = compare_runs(base, runs({100}), {});
  EXPECT_EQ(comparison.arms.at(0).verdict, Verdict::not_comparable);
  EXPECT_EQ(comparison.environment.at(0).base, "2 | 64");
}

TEST(CompareRuns, AreComparableOnAnotherHostOfTheSameKind) {
  const Side base = side({results::make_trial({}, kBase)});
  Side other = base;
  other.runs[0].environment.host = "node2";
  other.runs[0].environment.chexbench_version = "0.2.0";
  const RunComparison comparison = compare_runs(base, other, {});
  EXPECT_EQ(comparison.arms.at(0).verdict, Verdict::same);
  EXPECT_THAT(keys(comparison.remarks), ElementsAre("host", "chexbench_version"));
}

// A side on these hosts.
Side on_hosts(std::vector<results::HostState> hosts) {
  Side one = side({results::make_trial({}, kBase)});
  one.runs[0].environment.hosts = std::move(hosts);
  return one;
}

TEST(CompareRuns, NameTheStateOfEachHostThatChanged) {
  const Side base = on_hosts({{.host = "a", .governors = "x", .turbo = "on", .nics = {{"eth0", "Ethernet", "", 1}}},
                              {.host = "b", .governors = "x", .turbo = "on", .smt = "on"}});
  const Side other = on_hosts({{.host = "b", .governors = "y", .turbo = "on"},
                               {.host = "c", .governors = "y", .turbo = "off", .nics = {{"eth0", "Ethernet", "", 2}}}});
  const std::vector<Difference> found = compare_runs(base, other, {}).remarks;
  EXPECT_THAT(keys(found), ElementsAre("governor", "turbo", "nic")) << "smt was not recorded on both sides";
  EXPECT_THAT(found.at(0).hosts, ElementsAre("a", "b"));
  EXPECT_THAT(found.at(1).hosts, ElementsAre("a")) << "compared with c";
  EXPECT_EQ(found.at(1).other, "off");
}

TEST(CompareRuns, TakeWhatAnOlderVersionDidNotRecordForNoDifference) {
  const Side now =
      on_hosts({{.host = "node1", .kernel = "Linux 6.1.0", .turbo = "on", .striping = {{.system = "GPFS"}}}});
  EXPECT_THAT(compare_runs(side({results::make_trial({}, kBase)}), now, {}).remarks, IsEmpty());
}

TEST(CompareRuns, DifferOnlyAsDeclared) {
  const Side base = on_hosts({{.host = "node1", .governors = "powersave"}});
  Side other = on_hosts({{.host = "node1", .governors = "performance"}});
  other.runs[0].trials[0].spec.training.batch_size = 32;
  other.runs[0].trials[0].name = "another name";
  other.runs[0].environment.libraries = {{"cuDNN", "9.2.0"}};
  const RunComparison one = compare_runs(base, other, {.vary = {"training", "governor", "cudnn"}});
  EXPECT_EQ(one.arms.at(0).verdict, Verdict::same);
  EXPECT_THAT(keys(one.arms.at(0).allowed), ElementsAre("training.batch_size"));
  EXPECT_THAT(keys(one.declared), ElementsAre("governor"));
  EXPECT_THAT(undeclared_differences(one), IsEmpty());
  EXPECT_THAT(keys(undeclared_differences(compare_runs(base, other, {.vary = {"turbo"}}))),
              testing::UnorderedElementsAre("governor", "training.batch_size"));
  EXPECT_THAT(undeclared_differences(compare_runs(base, other, {})), IsEmpty()) << "nothing was declared";
}

TEST(CompareRuns, LetTheMachineDifferAsDeclared) {
  const Side base = side({results::make_trial({.engine = "emulated:v100"}, kBase)});
  Side other = base;
  other.runs[0].environment.gpus = {"NVIDIA H100"};
  other.runs[0].trials[0].engine_source = "another publication";
  EXPECT_EQ(only_arm(base, other, {.vary = {"gpus", "engine"}}).verdict, Verdict::same);
  const RunComparison half = compare_runs(base, other, {.vary = {"gpus"}});
  EXPECT_THAT(keys(undeclared_differences(half)), ElementsAre("engine_source"));
}

TEST(CompareRuns, NameAnotherEngineWithoutWhatFollowsFromIt) {
  Side base = side({results::make_trial({.engine = "none"}, kBase)});
  Side other = side({results::make_trial({.engine = "emulated:v100"}, kBase)});
  base.runs[0].trials[0].name = other.runs[0].trials[0].name;
  base.runs[0].trials[0].engine_device = "none";
  other.runs[0].trials[0].engine_source = "a publication";
  EXPECT_THAT(keys(only_arm(base, other).differences), ElementsAre("engine"));
}

// Returns a trial of that name and batch size.
results::TrialResult named(const std::string& name, int batch_size, const std::vector<double>& images_per_s) {
  results::TrialResult trial = results::make_trial({}, images_per_s);
  trial.name = name;
  trial.spec.training.batch_size = batch_size;
  return trial;
}

TEST(CompareRuns, PairWhatVariesByNameAndThenByTheFewestDifferences) {
  const auto pairs = [](const Side& base, const Side& other, const std::vector<std::string>& vary) {
    std::vector<std::string> verdicts;
    for (const ComparedArm& arm : compare_runs(base, other, {.vary = vary}).arms)
      verdicts.push_back(arm.trial + " " + to_string(arm.verdict));
    return verdicts;
  };
  const std::vector<std::string> batch{"training.batch_size"};
  EXPECT_THAT(pairs(side({named("slow", 8, kTenPercentLess), named("fast", 16, kBase)}),
                    side({named("fast", 32, kBase)}), batch),
              ElementsAre("fast same"));
  EXPECT_THAT(pairs(side({named("fast", 16, kBase)}),
                    side({named("slow", 8, kTenPercentLess), named("fast", 32, kBase)}), batch),
              ElementsAre("fast same"));
  results::TrialResult gray = named("batch 8", 8, kTenPercentLess), renamed = named("batch 9", 9, kTenPercentLess);
  gray.spec.model.image_size = renamed.spec.model.image_size = 64;
  EXPECT_THAT(pairs(side({named("batch 16", 16, kBase), gray}), side({renamed, named("batch 32", 32, kBase)}),
                    {"training.batch_size", "model.image_size"}),
              ElementsAre("batch 16 same", "batch 8 same"));
}

TEST(CompareRuns, ATrialWithoutAPartnerMayHideAnUndeclaredDifference) {
  const RunComparison one = compare_runs(side({named("a", 8, kBase), named("b", 16, kBase)}),
                                         side({named("c", 32, kBase), named("b", 16, kBase)}), {.vary = {"smt"}});
  EXPECT_THAT(keys(undeclared_differences(one)), ElementsAre("training.batch_size"));
}

TEST(CompareRuns, LookAtHostsWithoutAPartner) {
  const auto on = [](std::vector<results::HostState> hosts) {
    Side one = side({results::make_trial({}, kBase)});
    one.runs[0].environment.hosts = std::move(hosts);
    return one;
  };
  const results::HostState a{.host = "a", .governors = "powersave (2)"}, b{.host = "b", .governors = "performance (2)"};
  const Side single = on({a}), two = on({a, b});
  EXPECT_THAT(keys(compare_runs(single, two, {}).remarks), ElementsAre("hosts", "governor"));
  EXPECT_THAT(keys(compare_runs(two, single, {}).remarks), ElementsAre("hosts", "governor"));
}

TEST(CompareRuns, RefuseToVaryWhatDoesNotExist) {
  const Side one = side({results::make_trial({}, kBase)});
  for (const char* known : {"training.batch_size", "training", "pipeline.ops[2].buffer", "nic", "engine_source"})
    EXPECT_NO_THROW(compare_runs(one, one, {.vary = {known}})) << known;
  EXPECT_THAT(message_of<SpecError>([&] { compare_runs(one, one, {.vary = {"governer"}}); }),
              HasSubstr("--vary: nothing is called 'governer' (did you mean 'governor'?)"));
  EXPECT_THAT(message_of<SpecError>([&] { compare_runs(one, one, {.vary = {"batch_size"}}); }),
              HasSubstr("'batch_size' (did you mean 'training.batch_size'?)"));
  EXPECT_THROW(compare_runs(one, one, {.vary = {"training.batch"}}), SpecError);
  EXPECT_THROW(compare_runs(one, one, {.vary = {"pipeline[2].buffer"}}), SpecError) << "no key has this form";
  EXPECT_THROW(compare_runs(one, one, {.vary = {""}}), SpecError);
}

}  // namespace
}  // namespace chexbench::verbs
