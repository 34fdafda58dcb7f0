#include "verbs/sweeps/sweeps.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/errors.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::json;

KernelTiming timing_of(const std::string& kernel, int runs, double median_s, double copy_s) {
  return {.network = "resnet50",
          .device = "a GPU",
          .kernel = kernel,
          .shape = "802816x64 relu f16",
          .runs = runs,
          .fused_runs = runs,
          .bytes = 400'000'000,
          .ran = true,
          .median_s = median_s,
          .copy_s = copy_s,
          .checked_values = 65536,
          .worst_result = "y",
          .difference = 1e-4,
          .allowed_difference = 2e-3};
}

// A sweep that gives these timings.
Sweep sweep_of(const std::vector<KernelTiming>& timings, bool complete = true) {
  return [timings, complete](const KernelSweepOptions&, const std::function<void(const KernelTiming&)>& on_timing) {
    for (const KernelTiming& timing : timings) on_timing(timing);
    return complete;
  };
}

std::vector<std::string> lines_of(const std::string& format, const std::vector<KernelTiming>& timings,
                                  bool complete = true) {
  std::string text;
  kernel_sweep({.format = format}, sweep_of(timings, complete), [&](const std::string& part) { text += part; });
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::vector<KernelTiming> kTwo{timing_of("normalize", 3, 200e-6, 180e-6),
                                     timing_of("statistics", 1, 400e-6, 200e-6)};

TEST(KernelSweepSummary, WeightsSharesOfACopyByTime) {
  const StepShares step = shares_of_step(kTwo, false);
  EXPECT_NEAR(step.own_s, 1000e-6, 1e-12);
  EXPECT_NEAR(step.copy_share, 0.74, 1e-9);  // (3 x 180 + 200) / 1000
  ASSERT_EQ(step.kernels.size(), 2u);
  EXPECT_EQ(step.kernels[0].kernel, "normalize");
  EXPECT_NEAR(step.kernels[0].share, 0.6, 1e-9);
  EXPECT_NEAR(step.kernels[0].copy_share, 0.9, 1e-9);
  ASSERT_NE(step.worst(), nullptr);
  EXPECT_EQ(step.worst()->kernel, "statistics");
}

TEST(KernelSweepSummary, LeavesOutWhatAStepDoesNotRunOrIsTooSmallToName) {
  std::vector<KernelTiming> timings = kTwo;
  timings.push_back(timing_of("loss", 1, 10e-6, 1e-6));  // 1 % of the time
  timings.push_back(timing_of("sgd", 0, 1, 0.1));
  timings.push_back(timing_of("adam", 1, 1, 0.1));
  timings.back().ran = false;
  timings[1].fused_runs = 0;
  const StepShares separate = shares_of_step(timings, false), fused = shares_of_step(timings, true);
  EXPECT_EQ(separate.kernels.size(), 3u);
  EXPECT_EQ(separate.worst()->kernel, "statistics");
  EXPECT_EQ(fused.kernels.size(), 2u);
  EXPECT_EQ(fused.worst()->kernel, "normalize");
}

TEST(KernelSweepSummary, OfNothingHasNoWorst) {
  EXPECT_EQ(shares_of_step({}, false).worst(), nullptr);
  EXPECT_EQ(shares_of_step({}, false).copy_share, 0);
}

TEST(KernelSweep, WritesALineOfJsonForEachKernelAndOneForEachNetwork) {
  std::vector<KernelTiming> timings = kTwo;
  timings.push_back(timing_of("loss", 1, 1e-5, 1e-5));
  timings.back().network = "densenet121";
  const std::vector<std::string> lines = lines_of("json", timings);
  ASSERT_EQ(lines.size(), 5u);
  const Json first = Json::parse(lines[0]), summary = Json::parse(lines[2]);
  EXPECT_EQ(first["kernel"], "normalize");
  EXPECT_NEAR(first["median_us"].get<double>(), 200, 1e-9);
  EXPECT_NEAR(first["copy_share"].get<double>(), 0.9, 1e-9);
  EXPECT_NEAR(first["us_per_step"].get<double>(), 600, 1e-9);
  EXPECT_NEAR(first["bytes_per_s"].get<double>(), 2e12, 1);
  EXPECT_EQ(first["agrees"], true);
  EXPECT_EQ(summary["summary"], true);
  EXPECT_EQ(summary["network"], "resnet50");
  EXPECT_EQ(summary["fused"]["worst_kernel"], "statistics");
  EXPECT_EQ(Json::parse(lines[4])["network"], "densenet121");
}

TEST(KernelSweep, WritesCsvWithOneHeader) {
  const std::vector<std::string> lines = lines_of("csv", kTwo);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "network,device,precision,batch_size,image_size,kernel,shape,ran,reason,runs_per_step,fused_runs_per_step,"
            "bytes,median_us,bytes_per_s,copy_us,copy_share,us_per_step,fused_us_per_step,checked_values,worst_result,"
            "difference,allowed_difference,agrees");
  EXPECT_TRUE(lines[1].starts_with("resnet50,a GPU,fp16,256,224,normalize,802816x64 relu f16,true,,3,3,400000000,"))
      << lines[1];
}

TEST(KernelSweep, WritesATableThatSaysWhereTheTimeGoes) {
  std::string text;
  for (const std::string& line : lines_of("table", kTwo, false)) text += line + '\n';
  EXPECT_NE(text.find("own kernels of resnet50, batch 256 at 224x224 in fp16, on a GPU"), std::string::npos) << text;
  EXPECT_NE(text.find("agrees: 0.0001 of 0.002"), std::string::npos) << text;
  EXPECT_NE(text.find("60 %"), std::string::npos) << text;
  EXPECT_NE(text.find("74 %"), std::string::npos) << text;
  EXPECT_NE(text.find("The budget ended"), std::string::npos) << text;
}

TEST(KernelSweep, WritesEachLineAsSoonAsItIsKnown) {
  std::vector<std::string> written;
  const Sweep sweep = [&](const KernelSweepOptions&, const std::function<void(const KernelTiming&)>& on_timing) {
    on_timing(kTwo[0]);
    EXPECT_NE(written.back().find("normalize"), std::string::npos);
    throw DeviceLostError("the GPU fell off the bus");
    return true;
  };
  EXPECT_THROW(kernel_sweep({.format = "json"}, sweep, [&](const std::string& line) { written.push_back(line); }),
               DeviceLostError);
}

TEST(KernelSweep, FailsAfterItsLastLineIfAKernelIsWrong) {
  std::vector<KernelTiming> timings = kTwo;
  timings[0].difference = 0.5;
  std::string text;
  try {
    kernel_sweep({}, sweep_of(timings), [&](const std::string& line) { text += line; });
    FAIL() << "nothing was thrown";
  } catch (const ComparisonError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel-sweep: kernels compute something else than the host: normalize at 802816x64 relu f16 of "
                 "resnet50");
  }
  EXPECT_NE(text.find("WRONG y: differs by 0.5, allowed 0.002"), std::string::npos) << text;
  EXPECT_NE(text.find("statistics"), std::string::npos);
}

TEST(KernelSweep, FailsAfterItsLastLineIfAKernelDidNotRun) {
  std::vector<KernelTiming> timings = kTwo;
  timings[0].ran = false;
  timings[0].reason = "CUDA: 9.00 GB of device memory were requested";
  std::string text;
  try {
    kernel_sweep({}, sweep_of(timings), [&](const std::string& line) { text += line; });
    FAIL() << "nothing was thrown";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("normalize at 802816x64 relu f16 of resnet50; the first: CUDA: 9.00 GB"),
              std::string::npos)
        << error.what();
  }
  EXPECT_NE(text.find("did not run: CUDA: 9.00 GB"), std::string::npos) << text;
}

}  // namespace
}  // namespace chexbench::verbs
