#include "report/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chexbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Doctor without_gpu() {
  return {.chexbench_version = "1.2.3",
          .machine = {.host = "host", .cpu = "a CPU", .cores = 1, .memory_bytes = 8'000'000'000, .kernel = "Linux 6.1"},
          .packages = {{"MPI", true}, {"oneDNN", false}, {"OpenCV", true}},
          .survey = {.nvml_problem = "NVML: none here"},
          .libraries = {{.name = "cuDNN", .file = "libcudnn.so.9", .reason = "no such file"}}};
}

Doctor with_gpu() {
  Doctor doctor = without_gpu();
  doctor.survey = {.pci_bus_ids = {"0000:17:00.0"},
                   .nvml_answers = true,
                   .driver_version = "580.65.06",
                   .cuda_version = 13010,
                   .gpus = {{3, "Some GPU", "GPU-1", "0000:17:00.0", 80'000'000'000}}};
  doctor.misfits = {"this does not go with that"};
  return doctor;
}

TEST(DoctorTable, OfAMachineWithoutAGpu) {
  EXPECT_THAT(doctor_table(without_gpu()),
              AllOf(HasSubstr("chexbench 1.2.3, built with MPI, OpenCV, without oneDNN\n"),
                    HasSubstr("machine host: a CPU, 1 core,"), HasSubstr("no driver answers: NVML: none here\n"),
                    HasSubstr("no GPU of NVIDIA was found\n"), HasSubstr("cuDNN    not found: no such file\n"),
                    HasSubstr("What was found fits together.\n")));
}

TEST(DoctorTable, NamesEachGpuAndEachMisfit) {
  EXPECT_THAT(doctor_table(with_gpu()),
              AllOf(HasSubstr("driver 580.65.06, serves CUDA 13.1\n"),
                    HasSubstr("3    Some GPU  80.0 GB  0000:17:00.0  GPU-1\n"),
                    HasSubstr("does not fit: this does not go with that\n"), Not(HasSubstr("fits together"))));
}

TEST(DoctorTable, SaysWhatItKnowsWhereTheDriverTellsLittle) {
  Doctor doctor = with_gpu();
  doctor.survey.driver_version.clear();
  doctor.survey.cuda_version.reset();
  EXPECT_THAT(doctor_table(doctor), HasSubstr("driver of unknown version\n"));
  doctor.survey.gpus.clear();
  EXPECT_THAT(doctor_table(doctor), HasSubstr("GPUs on the PCI bus: 0000:17:00.0\n"));
  doctor.survey = {.build_has_nvml = false, .nvml_problem = "no nvml.h"};
  EXPECT_THAT(doctor_table(doctor), HasSubstr("driver not asked: no nvml.h\n"));
}

TEST(DoctorJson, HoldsAllOfIt) {
  const auto object = nlohmann::json::parse(doctor_json(with_gpu()));
  EXPECT_EQ(object["chexbench_version"], "1.2.3");
  EXPECT_EQ(object["machine"]["memory_bytes"], 8'000'000'000);
  EXPECT_EQ(object["build"]["oneDNN"], false);
  EXPECT_EQ(object["driver"]["cuda_version"], "13.1");
  EXPECT_EQ(object["pci_bus_ids"].size(), 1u);
  EXPECT_EQ(object["gpus"][0]["uuid"], "GPU-1");
  EXPECT_EQ(object["gpu_problems"].size(), 0u);
  EXPECT_EQ(object["libraries"][0]["found"], false);
  EXPECT_EQ(object["misfits"][0], "this does not go with that");
}

}  // namespace
}  // namespace chexbench::report
