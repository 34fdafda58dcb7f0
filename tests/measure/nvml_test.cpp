// Tests the use of NVML with the scripted stand-ins of its library.
#include "measure/nvml.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "measure/gpu_sampler.hpp"
#include "measure/gpu_survey.hpp"

namespace chexbench::measure {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override { script(""); }
  void TearDown() override {
    unsetenv("CHEXBENCH_NVML_LIBRARY");
    unsetenv("CHEXBENCH_NVML_STANDIN");
    std::filesystem::remove(script_path_);
  }

  // Sets the stand-in's answers from now on (nvml_standin.hpp); `library` is the driver that it replaces.
  void script(const std::string& lines, const char* library = CHEXBENCH_NVML_STANDIN_RECENT) {
    std::ofstream(script_path_) << lines;
    setenv("CHEXBENCH_NVML_STANDIN", script_path_.c_str(), 1);
    setenv("CHEXBENCH_NVML_LIBRARY", library, 1);
  }

  static std::string open_error() {
    return message_of<DeviceError>([] { open_nvml(); });
  }
  static GpuSample sample() { return open_nvml()->gpu(0)->sample(); }

 private:
  const std::string script_path_ =
      std::filesystem::temp_directory_path() / ("nvml-standin-" + std::to_string(getpid()));
};

TEST_F(NvmlTest, TellsOfTheDriverAndItsGpus) {
  script("gpus 2");
  const auto nvml = open_nvml();
  EXPECT_TRUE(has_nvml());
  EXPECT_EQ(nvml->driver_version(), "580.65.06");
  EXPECT_THAT(nvml->cuda_version(), Optional(13000));
  ASSERT_EQ(nvml->count(), 2u);
  const GpuInfo info = nvml->gpu(1)->info();
  EXPECT_EQ(info.index, 1u);
  EXPECT_EQ(info.name, "Stand-in GPU");
  EXPECT_EQ(info.uuid, "GPU-standin-1");
  EXPECT_EQ(info.pci_bus_id, "0000:17:00.0");
  EXPECT_EQ(info.memory_bytes, 80ull << 30);
}

TEST_F(NvmlTest, ASampleIsInBaseUnitsOnTheClockOfTheSteps) {
  const double before_s = now_s();
  const GpuSample sample = NvmlTest::sample();
  EXPECT_GE(sample.time_s, before_s);
  EXPECT_LE(sample.time_s, now_s());
  EXPECT_THAT(sample.utilization, Optional(0.9));
  EXPECT_THAT(sample.memory_utilization, Optional(0.4));
  EXPECT_THAT(sample.memory_used_bytes, Optional(1024u));
  EXPECT_THAT(sample.sm_clock_hz, Optional(1.98e9));
  EXPECT_THAT(sample.memory_clock_hz, Optional(2.619e9));
  EXPECT_THAT(sample.power_w, Optional(650.0));
  EXPECT_THAT(sample.temperature_c, Optional(55.0));
  EXPECT_THAT(sample.throttle_reasons, Optional(IsEmpty()));
  EXPECT_THAT(sample.uncorrected_ecc_errors, Optional(0u));
}

TEST_F(NvmlTest, FindsAGpuByTheNamesThatCudaKnows) {
  script("gpus 3");
  const auto nvml = open_nvml();
  EXPECT_EQ(nvml->gpu_by_uuid("GPU-standin-2")->info().index, 2u);
  EXPECT_THAT(message_of<DeviceError>([&] { nvml->gpu_by_uuid("GPU-other"); }), HasSubstr("GPU-other"));
  EXPECT_THAT(message_of<DeviceError>([&] { nvml->gpu(3); }), HasSubstr("GPU 3"));
}

TEST_F(NvmlTest, ThrottleReasonsAreWords) {
  script("reasons 0x4 0x60 0x1 0x2004");
  const auto gpu = open_nvml()->gpu(0);
  EXPECT_THAT(gpu->sample().throttle_reasons, Optional(ElementsAre("sw_power_cap")));
  EXPECT_THAT(gpu->sample().throttle_reasons, Optional(ElementsAre("sw_thermal_slowdown", "hw_thermal_slowdown")));
  EXPECT_THAT(gpu->sample().throttle_reasons, Optional(ElementsAre("gpu_idle")));
  EXPECT_THAT(gpu->sample().throttle_reasons, Optional(ElementsAre("sw_power_cap", "unknown")));
}

TEST_F(NvmlTest, AFigureThatTheGpuDoesNotTellIsMissingAlone) {
  script("power !3\nmemory_clock !4\necc !3\nutilization !999");
  const GpuSample sample = NvmlTest::sample();
  EXPECT_FALSE(sample.power_w);
  EXPECT_FALSE(sample.uncorrected_ecc_errors);
  EXPECT_FALSE(sample.utilization);
  EXPECT_FALSE(sample.memory_utilization);
  EXPECT_TRUE(sample.temperature_c);
  EXPECT_TRUE(sample.memory_used_bytes);
}

TEST_F(NvmlTest, ADriverBefore535TellsThrottleReasonsByTheirOldName) {
  script("reasons 0x4", CHEXBENCH_NVML_STANDIN_OLDER);
  EXPECT_THAT(sample().throttle_reasons, Optional(ElementsAre("sw_power_cap")));
}

TEST_F(NvmlTest, FunctionsThatTheDriverLacksCostTheirFiguresAlone) {
  script("", CHEXBENCH_NVML_STANDIN_BARE);
  const auto nvml = open_nvml();
  EXPECT_EQ(nvml->driver_version(), "");
  EXPECT_FALSE(nvml->cuda_version());
  const auto gpu = nvml->gpu(0);
  EXPECT_EQ(gpu->info().name, "");
  EXPECT_EQ(gpu->info().memory_bytes, 0u);
  const GpuSample sample = gpu->sample();
  EXPECT_GT(sample.time_s, 0);
  EXPECT_FALSE(sample.utilization || sample.memory_utilization || sample.memory_used_bytes || sample.sm_clock_hz ||
               sample.memory_clock_hz || sample.power_w || sample.temperature_c || sample.throttle_reasons ||
               sample.uncorrected_ecc_errors);
  EXPECT_THAT(message_of<DeviceError>([&] { nvml->gpu_by_uuid("GPU-standin-0"); }), HasSubstr("status 13"));
}

TEST_F(NvmlTest, ADriverThatCannotBeUsedIsAnErrorThatSaysWhatToDo) {
  script("", "/nowhere/libnvidia-ml.so.1");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("driver"), HasSubstr("/nowhere/libnvidia-ml.so.1")));
  script("", CHEXBENCH_NO_NVML);
  EXPECT_THAT(open_error(), AllOf(HasSubstr(CHEXBENCH_NO_NVML), HasSubstr("nvmlInit_v2")));
  script("init !9");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("Driver Not Loaded"), HasSubstr("load the driver's kernel module")));
  script("init !18");
  EXPECT_THAT(open_error(), AllOf(HasSubstr("version mismatch"), HasSubstr("reboot")));
}

TEST_F(NvmlTest, ALostGpuIsAnErrorThatNamesIt) {
  script("utilization 50 !15");
  const auto gpu = open_nvml()->gpu(0);
  EXPECT_TRUE(gpu->sample().utilization);
  EXPECT_THAT(message_of<DeviceError>([&] { gpu->sample(); }),
              AllOf(HasSubstr("GPU-standin-0"), HasSubstr("GPU is lost")));
}

TEST_F(NvmlTest, IsShutDownWhenItsLastUserIsGone) {
  auto nvml = open_nvml();
  auto* const library = dlopen(CHEXBENCH_NVML_STANDIN_RECENT, RTLD_NOW | RTLD_NOLOAD);
  const auto users = reinterpret_cast<int (*)()>(dlsym(library, "nvml_standin_users"));
  auto gpu = nvml->gpu(0);
  nvml.reset();
  EXPECT_EQ(users(), 1);
  EXPECT_THAT(gpu->sample().utilization, Optional(0.9));
  gpu.reset();
  EXPECT_EQ(users(), 0);
  dlclose(library);
}

TEST_F(NvmlTest, TheSamplerKeepsWhatItSawBeforeTheGpuWasLost) {
  script("utilization 10 20 30 !15");
  GpuSampler sampler(open_nvml()->gpu(0), {.interval_s = 0.002});
  sampler.start();
  while (sampler.problem().empty()) sleep_until_s(now_s() + 0.002);
  sampler.stop();
  EXPECT_THAT(sampler.problem(), HasSubstr("GPU is lost"));
  const std::vector<GpuSample> samples = sampler.samples();
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_THAT(samples.back().utilization, Optional(0.3));
}

TEST_F(NvmlTest, ASurveyNamesTheGpusThatAnswerAndTheOneThatDoesNot) {
  script("gpus 3\nhandle 0 !15 0");
  const GpuSurvey survey = survey_gpus();
  EXPECT_TRUE(survey.nvml_answers);
  EXPECT_EQ(survey.driver_version, "580.65.06");
  EXPECT_THAT(survey.cuda_version, Optional(13000));
  EXPECT_THAT(survey.gpus, ElementsAre(testing::Field(&GpuInfo::index, 0u), testing::Field(&GpuInfo::index, 2u)));
  EXPECT_THAT(survey.gpu_problems, ElementsAre(AllOf(HasSubstr("GPU 1"), HasSubstr("lost"))));
  EXPECT_TRUE(survey.has_gpu());
}

TEST_F(NvmlTest, ASurveyWithoutADriverSaysWhy) {
  script("init !9");
  const GpuSurvey survey = survey_gpus();
  EXPECT_FALSE(survey.nvml_answers);
  EXPECT_THAT(survey.nvml_problem, HasSubstr("Driver Not Loaded"));
  EXPECT_THAT(survey.gpus, IsEmpty());
}

TEST_F(NvmlTest, TellsHowMuchOfTheGpuWorkedSinceTheSampleBefore) {
  script("sm_activity 45\ntensor_activity 20\ndram_activity 80\nenergy 5000 8000");
  const auto gpu = open_nvml()->gpu(0);
  EXPECT_EQ(gpu->sample().sm_activity, std::nullopt) << "there is no sample before the first";
  const GpuSample second = gpu->sample();
  EXPECT_THAT(second.sm_activity, Optional(0.45));
  EXPECT_THAT(second.tensor_activity, Optional(0.2));
  EXPECT_THAT(second.dram_activity, Optional(0.8));
  EXPECT_THAT(second.energy_j, Optional(8.0));
}

TEST_F(NvmlTest, AGpuOrADriverWithoutGpmMetricsLeavesThemOut) {
  script("gpm 0");
  const auto old_gpu = open_nvml()->gpu(0);
  old_gpu->sample();
  EXPECT_EQ(old_gpu->sample().sm_activity, std::nullopt);
  script("", CHEXBENCH_NVML_STANDIN_OLDER);
  const auto old_driver = open_nvml()->gpu(0);
  old_driver->sample();
  EXPECT_EQ(old_driver->sample().tensor_activity, std::nullopt);
  EXPECT_EQ(old_driver->sample().energy_j, std::nullopt);
}

TEST_F(NvmlTest, AMetricThatIsNotToldCostsOnlyItself) {
  script("tensor_activity !3");
  const auto gpu = open_nvml()->gpu(0);
  gpu->sample();
  const GpuSample second = gpu->sample();
  EXPECT_EQ(second.tensor_activity, std::nullopt);
  EXPECT_THAT(second.sm_activity, Optional(0.6));
}

}  // namespace
}  // namespace chexbench::measure
