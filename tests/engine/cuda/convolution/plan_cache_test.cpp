#include "engine/cuda/convolution/plan_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace chexbench::engine::cuda {
namespace {

using testing::HasSubstr;

const CachedPlan kPlan{.engine = "eng2_k2=4_k25=1", .workspace_bytes = 4096, .seconds = 1.2345678901234567e-4};
const CachedPlan kOther{.engine = "eng0", .workspace_bytes = 0, .seconds = 2e-5};

class PlanCacheTest : public testing::Test {
 protected:
  PlanCacheTest() : folder_(testing::TempDir() + "plan-cache-" + std::to_string(getpid())), file_(folder_ + "/plans") {
    std::filesystem::create_directories(folder_);
  }
  ~PlanCacheTest() override { std::filesystem::remove_all(folder_); }

  void keep(const std::string& key, const CachedPlan& plan) const {
    PlanCache cache(file_);
    cache.add(key, plan);
    cache.save();
  }
  bool knows(const std::string& key, const CachedPlan& plan) const {
    const PlanCache cache(file_);
    return cache.find(key) != nullptr && *cache.find(key) == plan;
  }
  std::string text() const {
    std::stringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  void write(const std::string& text) const { std::ofstream(file_) << text; }

  const std::string folder_;
  const std::string file_;
};

TEST_F(PlanCacheTest, GivesBackToTheLastBitWhatWasKept) {
  keep("a", kPlan);
  EXPECT_TRUE(knows("a", kPlan));
  EXPECT_EQ(PlanCache(file_).find("b"), nullptr);
}

TEST_F(PlanCacheTest, AMissingFileIsEmptyAndMadeWithItsFolders) {
  const std::string file = folder_ + "/new/folder/plans";
  PlanCache cache(file);
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.add("a", kPlan);
  cache.save();
  EXPECT_NE(PlanCache(file).find("a"), nullptr);
}

TEST_F(PlanCacheTest, WithoutAFileAddedPlansAreKnownAndForgottenAtTheEnd) {
  PlanCache cache;
  cache.add("a", kPlan);
  cache.save();
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("a"), kPlan);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(PlanCacheTest, ALaterTimingReplacesAnEarlierOne) {
  keep("a", kPlan);
  keep("a", kOther);
  EXPECT_TRUE(knows("a", kOther));
}

TEST_F(PlanCacheTest, OfAFileThatIsCutShortOnlyWholeLinesCount) {
  keep("a", kOther);
  keep("b", kPlan);
  const std::string whole = text();
  const std::size_t first_line_end = whole.find('\n', whole.find('\n') + 1);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_EQ(knows("a", kOther), length > first_line_end) << length;
    EXPECT_EQ(PlanCache(file_).find("b"), nullptr) << length;
  }
}

TEST_F(PlanCacheTest, DamagedLinesAreLeftOutAndTheOthersStay) {
  keep("a", kPlan);
  const std::string good = text();
  for (const char* line : {"b", "b\teng0\t0", "b\teng0\t0\t", "b\teng0\tmany\t1e-3", "b\teng0\t-1\t1e-3",
                           "b\teng0\t0\t0", "b\teng0\t0\tnan", "b\teng0\t0\t-1", "b\teng0\t0\tinf",
                           "b\teng0\t0\t1e-3 s", "b\t\t0\t1e-3", "\teng0\t0\t1e-3", "b\teng0\t0\t1e-3\t7", ""}) {
    write(good + line + "\n");
    EXPECT_TRUE(knows("a", kPlan)) << line;
    EXPECT_EQ(PlanCache(file_).find("b"), nullptr) << line;
    EXPECT_EQ(PlanCache(file_).find(""), nullptr) << line;
  }
}

TEST_F(PlanCacheTest, AFileOfAnotherVersionIsEmptyAndReplaced) {
  keep("a", kPlan);
  std::string other = text();
  other.replace(other.find("version 1"), 9, "version 2");
  write(other);
  EXPECT_EQ(PlanCache(file_).find("a"), nullptr);
  keep("b", kPlan);
  EXPECT_TRUE(knows("b", kPlan));
  EXPECT_EQ(PlanCache(file_).find("a"), nullptr);
}

TEST_F(PlanCacheTest, WhatAnotherProcessKeptMeanwhileStays) {
  PlanCache first(file_), second(file_);
  first.add("a", kPlan);
  second.add("b", kOther);
  first.save();
  second.save();
  EXPECT_TRUE(knows("a", kPlan));
  EXPECT_TRUE(knows("b", kOther));
}

TEST_F(PlanCacheTest, OfManyWritersAtOnceNoneLosesALine) {
  constexpr int kWriters = 4, kLines = 25;
  for (int writer = 0; writer < kWriters; ++writer) {
    if (fork() != 0) continue;
    for (int line = 0; line < kLines; ++line) keep(std::to_string(writer) + " " + std::to_string(line), kPlan);
    _exit(0);
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    int status = 0;
    ASSERT_GT(wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  const PlanCache cache(file_);
  int kept = 0;
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int line = 0; line < kLines; ++line)
      kept += cache.find(std::to_string(writer) + " " + std::to_string(line)) != nullptr;
  }
  EXPECT_EQ(kept, kWriters * kLines);
}

TEST_F(PlanCacheTest, AFileThatCannotBeWrittenIsOneWarning) {
  write("in the way");
  PlanCache cache(file_ + "/plans");
  testing::internal::CaptureStderr();
  for (const char* key : {"a", "b"}) {
    cache.add(key, kPlan);
    cache.save();
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("the timings of convolutions are not kept"));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_NE(cache.find("b"), nullptr);
}

TEST_F(PlanCacheTest, AFileThatCannotBeReadIsOneWarningAndIsLeftAlone) {
  std::filesystem::create_directories(file_);
  testing::internal::CaptureStderr();
  PlanCache cache(file_);
  cache.add("a", kPlan);
  cache.save();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("convolutions are timed again"));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_TRUE(std::filesystem::is_empty(file_));
}

TEST(PlanKey, DiffersByEachOfItsParts) {
  std::set<std::string> keys;
  int parts = 0;
  const auto add = [&](const auto& change) {
    PlanMachine machine{
        .device = "NVIDIA H200", .compute_capability = "9.0", .cudnn_version = 91900, .cuda_runtime_version = 13000};
    PlanRequest request{.shape = {.images = 64,
                                  .in_channels = 32,
                                  .height = 28,
                                  .width = 28,
                                  .out_channels = 64,
                                  .kernel = 3,
                                  .stride = 1,
                                  .padding = 1,
                                  .in_pixel_stride = 32,
                                  .out_pixel_stride = 64},
                        .precision = spec::Precision::fp16};
    change(machine, request);
    keys.insert(plan_key(machine, request));
    ++parts;
  };
  add([](auto&, auto&) {});
  add([](auto& machine, auto&) { machine.device = "NVIDIA H100"; });
  add([](auto& machine, auto&) { machine.compute_capability = "9.1"; });
  add([](auto& machine, auto&) { machine.cudnn_version = 92000; });
  add([](auto& machine, auto&) { machine.cuda_runtime_version = 13010; });
  add([](auto&, auto& request) { request.pattern = ConvPattern::forward_statistics; });
  add([](auto&, auto& request) { request.precision = spec::Precision::bf16; });
  add([](auto&, auto& request) { request.deterministic = true; });
  add([](auto&, auto& request) { request.workspace_limit_bytes = 7; });
  for (int ConvShape::*member : {&ConvShape::images, &ConvShape::in_channels, &ConvShape::height, &ConvShape::width,
                                 &ConvShape::out_channels, &ConvShape::kernel, &ConvShape::stride, &ConvShape::padding,
                                 &ConvShape::groups, &ConvShape::in_pixel_stride, &ConvShape::out_pixel_stride})
    add([&](auto&, auto& request) { request.shape.*member += 1; });
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(parts));
}

TEST(PlanKey, IsOneLineWithoutTabsWhateverTheDeviceIsCalled) {
  const std::string key = plan_key({.device = "a\tb\nc"}, {});
  EXPECT_EQ(key.find_first_of("\t\n"), std::string::npos);
  EXPECT_THAT(key, HasSubstr("a b c"));
}

std::string default_file(const std::map<std::string, const char*>& variables) {
  return default_plan_cache_file([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second;
  });
}

TEST(DefaultPlanCacheFile, LiesInTheUsersCacheFolder) {
  EXPECT_EQ(default_file({{"XDG_CACHE_HOME", "/cache"}, {"HOME", "/home/me"}}),
            "/cache/chexbench/convolution-plans.txt");
  EXPECT_EQ(default_file({{"HOME", "/home/me"}}), "/home/me/.cache/chexbench/convolution-plans.txt");
}

TEST(DefaultPlanCacheFile, IgnoresWhatIsEmptyOrRelative) {
  EXPECT_EQ(default_file({{"XDG_CACHE_HOME", ""}, {"HOME", "/home/me"}}),
            "/home/me/.cache/chexbench/convolution-plans.txt");
  EXPECT_EQ(default_file({{"XDG_CACHE_HOME", "cache"}, {"HOME", "/home/me"}}),
            "/home/me/.cache/chexbench/convolution-plans.txt");
  EXPECT_EQ(default_file({{"HOME", ""}}), "");
  EXPECT_EQ(default_file({}), "");
}

}  // namespace
}  // namespace chexbench::engine::cuda
