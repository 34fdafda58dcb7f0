#include "measure/gpu_survey.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch.hpp"

namespace chexbench::measure {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GpuLibrary library(const std::string& name, const std::string& version) {
  return {.name = name, .found = true, .version = version, .major = std::stoi(version), .path = "/lib/" + name};
}

// Libraries that all fit together, on a machine with one GPU.
std::vector<GpuLibrary> fitting() {
  return {library("CUDA driver", "13.0"), library("CUDA runtime", "13.0"), library("cuBLASLt", "13.1.0"),
          library("cuDNN", "9.19.0"), library("NCCL", "2.28.9")};
}
GpuSurvey one_gpu() {
  return {.pci_bus_ids = {"0000:17:00.0"}, .nvml_answers = true, .driver_version = "580.65.06", .gpus = {GpuInfo{}}};
}
std::vector<std::string> misfits_with(std::size_t place, const GpuLibrary& other) {
  auto libraries = fitting();
  libraries[place] = other;
  return misfits(one_gpu(), libraries);
}

TEST(Misfits, NoneWhereAllFits) { EXPECT_THAT(misfits(one_gpu(), fitting()), IsEmpty()); }

TEST(Misfits, NoneWhereNothingIs) { EXPECT_THAT(misfits({.nvml_problem = "no driver"}, {}), IsEmpty()); }

TEST(Misfits, ALibraryThatIsMissingIsNone) {
  EXPECT_THAT(misfits_with(3, {.name = "cuDNN", .reason = "no such file"}), IsEmpty());
  EXPECT_THAT(misfits_with(4, {.name = "NCCL", .found = true, .reason = "it has no ncclGetVersion"}), IsEmpty());
}

TEST(Misfits, ADriverMustServeTheMajorVersionOfTheRuntime) {
  EXPECT_THAT(misfits_with(0, library("CUDA driver", "12.8")),
              ElementsAre(AllOf(HasSubstr("serves CUDA 12.8 at most"), HasSubstr("13.0 (/lib/CUDA runtime)"),
                                HasSubstr("a driver for CUDA 13.0 or later"))));
  EXPECT_THAT(misfits_with(0, library("CUDA driver", "13.2")), IsEmpty());
  EXPECT_THAT(misfits_with(1, library("CUDA runtime", "13.4")), IsEmpty());  // minor versions are compatible
  EXPECT_THAT(misfits_with(1, library("CUDA runtime", "12.9")), IsEmpty());  // drivers serve older runtimes
}

TEST(Misfits, OneRuntimeThatTheDriverServesIsEnough) {
  auto libraries = fitting();
  libraries[0] = library("CUDA driver", "12.8");
  libraries.push_back(library("CUDA runtime", "12.9"));
  EXPECT_THAT(misfits(one_gpu(), libraries), IsEmpty());
}

TEST(Misfits, CudnnMustBe9AndNccl2) {
  EXPECT_THAT(misfits_with(3, library("cuDNN", "8.9.7")),
              ElementsAre(AllOf(HasSubstr("8.9.7 (/lib/cuDNN)"), HasSubstr("needs cuDNN 9"))));
  EXPECT_THAT(misfits_with(4, library("NCCL", "3.0.0")), ElementsAre(HasSubstr("needs NCCL 2")));
  auto libraries = fitting();
  libraries.push_back(library("cuDNN", "8.9.7"));
  EXPECT_THAT(misfits(one_gpu(), libraries), IsEmpty());  // version 9 is installed, too
}

TEST(Misfits, AGpuOnTheBusWantsADriver) {
  const GpuSurvey survey{.pci_bus_ids = {"0000:17:00.0", "0000:2a:00.0"}, .nvml_problem = "Driver Not Loaded"};
  EXPECT_THAT(misfits(survey, {}),
              ElementsAre(AllOf(HasSubstr("2 GPUs"), HasSubstr("0000:2a:00.0"), HasSubstr("Driver Not Loaded"))));
}

TEST(Misfits, ABuildWithoutNvmlKnowsADriverByItsLibcuda) {
  const GpuSurvey survey{.pci_bus_ids = {"0000:17:00.0"}, .build_has_nvml = false, .nvml_problem = "no nvml.h"};
  EXPECT_THAT(misfits(survey, fitting()), IsEmpty());
  EXPECT_THAT(misfits(survey, {}), ElementsAre(AllOf(HasSubstr("1 GPU of"), HasSubstr("libcuda.so.1"))));
}

TEST(Misfits, ADriverInHalvesIsOne) {
  EXPECT_THAT(misfits_with(0, {.name = "CUDA driver", .reason = "no such file"}),
              ElementsAre(AllOf(HasSubstr("1 GPU,"), HasSubstr("NVIDIA_DRIVER_CAPABILITIES"))));
}

TEST(Misfits, AGpuThatDoesNotAnswerIsOne) {
  GpuSurvey survey = one_gpu();
  survey.gpu_problems = {"GPU 1: GPU is lost"};
  EXPECT_THAT(misfits(survey, fitting()), ElementsAre("GPU 1: GPU is lost"));
}

TEST(FindGpuLibraries, TellsOfEachKindWhetherItIsHere) {
  const std::vector<GpuLibrary> libraries = find_gpu_libraries();
  for (const char* name : {"CUDA driver", "CUDA runtime", "cuBLASLt", "cuDNN", "NCCL"}) {
    EXPECT_THAT(libraries, testing::Contains(testing::Field(&GpuLibrary::name, name)));
  }
  for (const GpuLibrary& one : libraries) {
    EXPECT_EQ(one.found, !one.path.empty()) << one.name;
    EXPECT_NE(one.version.empty(), one.reason.empty()) << one.name;
    EXPECT_EQ(one.major > 0, !one.version.empty()) << one.name;
  }
}

class PciGpus : public testing::Test {
 protected:
  void add(const std::string& device, const char* vendor, const char* device_class) {
    write_text(folder_ / (device + "/vendor"), vendor);
    write_text(folder_ / (device + "/class"), device_class);
  }
  const ScratchFolder folder_;
};

TEST_F(PciGpus, AreNvidiasDisplayAndComputeDevices) {
  add("0000:2a:00.0", "0x10de", "0x030200");
  add("0000:17:00.0", "0x10de", "0x030000");
  add("0000:17:00.1", "0x10de", "0x040300");  // a graphics card's sound device
  add("0000:00:02.0", "0x8086", "0x030000");
  EXPECT_THAT(pci_gpus(folder_.path()), ElementsAre("0000:17:00.0", "0000:2a:00.0"));
}

TEST_F(PciGpus, AreNoneWithoutPci) { EXPECT_THAT(pci_gpus(folder_ / "none"), IsEmpty()); }

}  // namespace
}  // namespace chexbench::measure
