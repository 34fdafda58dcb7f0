#include "verbs/doctor/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Doctor without_gpu() {
  return {.machine = {.host = "host", .cpu = "a CPU", .cores = 1, .memory_bytes = 8'000'000'000, .kernel = "Linux 6.1"},
          .preprocessing_instruction_set = "avx2",
          .packages = {{"MPI", true}, {"oneDNN", false}, {"OpenCV", true}},
          .survey = {.nvml_problem = "NVML: none here"},
          .libraries = {{.name = "cuDNN", .file = "libcudnn.so.9", .reason = "no such file"}},
          .surroundings = {.ranks = {{.host = "host", .cores = {0}, .cores_per_rank = 1}}, .mpi = "none"}};
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
              AllOf(HasSubstr("chexbench " CHEXBENCH_VERSION ", built with MPI, OpenCV, without oneDNN\n"),
                    HasSubstr("machine host: a CPU, 1 core,"), HasSubstr("instruction sets: preprocessing uses avx2\n"),
                    HasSubstr("NVIDIA driver does not respond: NVML: none here\n"),
                    HasSubstr("no NVIDIA GPU was found\n"), HasSubstr("cuDNN    not found: no such file\n"),
                    StartsWith("No conflicts found, and nothing that distorts")));
}

TEST(DoctorTable, NamesTheInstructionSetsOfEachPathAndThoseNotUsed) {
  Doctor doctor = without_gpu();
  doctor.machine.cpu_kind = "Zen 4";
  doctor.machine.unused_instruction_sets = {"AVX-512 (the hypervisor hides it)"};
  doctor.training_instruction_sets = "avx2";
  EXPECT_THAT(doctor_table(doctor),
              AllOf(HasSubstr("machine host: a CPU (Zen 4), 1 core,"),
                    HasSubstr("instruction sets: preprocessing uses avx2; training uses avx2; not used: AVX-512 (the "
                              "hypervisor hides it)\n")));
  const auto json = nlohmann::json::parse(doctor_json(doctor));
  EXPECT_EQ(json["training_instruction_sets"], "avx2");
  EXPECT_EQ(json["machine"]["cpu_kind"], "Zen 4");
}

TEST(DoctorTable, NamesEachGpuAndEachMisfit) {
  EXPECT_THAT(doctor_table(with_gpu()),
              AllOf(HasSubstr("driver 580.65.06, serves CUDA 13.1\n"),
                    HasSubstr("3    Some GPU  80.0 GB  0000:17:00.0  GPU-1\n"),
                    HasSubstr("does not fit: this does not go with that\n"), Not(HasSubstr("No conflicts found"))));
}

TEST(DoctorTable, TellsHowFastAServerIs) {
  Doctor doctor = without_gpu();
  doctor.store = {.root = "s3://b/set",
                  .kind = "s3",
                  .first_request_s = 0.0123,
                  .next_request_s = 0.0021,
                  .file = "s3://b/set/tfrecord/train-00000-of-00016",
                  .read_bytes = 40'000'000,
                  .read_s = 0.5};
  EXPECT_THAT(doctor_table(doctor),
              HasSubstr("data s3://b/set: a server (s3), first request 12.3 ms, next one 2.1 ms; 40.0 MB of "
                        "tfrecord/train-00000-of-00016 at 80.0 MB/s\n"));
  const auto told = nlohmann::json::parse(doctor_json(doctor));
  EXPECT_EQ(told["store"]["read_bytes"], 40'000'000);
  EXPECT_DOUBLE_EQ(told["store"]["next_request_s"], 0.0021);
  EXPECT_TRUE(nlohmann::json::parse(doctor_json(without_gpu()))["store"].is_null());
}

TEST(DoctorTable, SaysWhatItKnowsWhereTheDriverTellsLittle) {
  Doctor doctor = with_gpu();
  doctor.survey.driver_version.clear();
  doctor.survey.cuda_version.reset();
  EXPECT_THAT(doctor_table(doctor), HasSubstr("driver of unknown version\n"));
  doctor.survey.gpus.clear();
  EXPECT_THAT(doctor_table(doctor), HasSubstr("GPUs on the PCI bus: 0000:17:00.0\n"));
  doctor.survey = {.build_has_nvml = false, .nvml_problem = "no nvml.h"};
  EXPECT_THAT(doctor_table(doctor), HasSubstr("driver not queried: no nvml.h\n"));
  EXPECT_THAT(doctor_table(doctor, 100, true), Not(HasSubstr("no nvml.h")));  // and no GPU that could need it
}

// A container on one of two nodes, with two ranks and data on a server.
Doctor in_a_job() {
  Doctor doctor = without_gpu();
  doctor.surroundings = {
      .cpu = {.sockets = 2,
              .physical_cores = 8,
              .hardware_threads = 16,
              .numa_nodes = {{0, 1}, {2, 3}},
              .governors = {{"powersave", 16}},
              .turbo = "off",
              .smt = "on",
              .mitigations = "off for mds",
              .load = 1.5},
      .cgroup = {.cpus = 3.5,
                 .memory_bytes = 4'000'000'000,
                 .memory_used_bytes = 1'000'000'000,
                 .cpuset = {0, 1, 2, 3}},
      .memory = {.total_bytes = 8'000'000'000,
                 .available_bytes = 6'000'000'000,
                 .page_cache_bytes = 5'000'000'000,
                 .transparent_huge_pages = "madvise"},
      .shared = {.exists = true, .total_bytes = 64'000'000, .free_bytes = 60'000'000, .problem = "denied"},
      .network = {{"eth0", "Ethernet", "ixgbe", 10'000'000'000}},
      .threading = {{"OMP_WAIT_POLICY", "active"}},
      .ranks = {{.host = "host", .cores = {0, 1}, .cores_per_rank = 2},
                {.host = "other", .cores = {2, 3, 5}, .cores_per_rank = 3}},
      .mpi = "MPICH 4.0.2",
      .data = measure::DataPlace{.root = "data",
                                 .file_system = {measure::FileSystemKind::network, "nfs4", "server:/d", "/mnt"},
                                 .sample = {.files = 2, .bytes = 100, .resident_bytes = 50, .unknown_files = 3}}};
  doctor.warnings = {"this spoils figures: do that"};
  return doctor;
}

TEST(DoctorTable, TellsWhatSurroundsAMeasurementAndWarnsApart) {
  EXPECT_THAT(
      doctor_table(in_a_job()),
      AllOf(HasSubstr("CPUs: 2 sockets, 2 NUMA nodes, 8 physical cores, 16 hardware threads, governor powersave "
                      "(16), turbo off, SMT on, mitigations off for mds, load 1.50\n"),
            HasSubstr("network: eth0 (Ethernet, 10 Gb/s, ixgbe)\n"),
            HasSubstr("cgroup allows: CPU time of 3.50 cores; 4.0 GB of memory, used 1.0 GB; CPUs 0-3\n"),
            HasSubstr("6.0 GB available of 8.0 GB, page cache 5.0 GB, transparent huge pages madvise\n"),
            HasSubstr("/dev/shm: 60 MB free of 64 MB, cannot be written to: denied\n"),
            HasSubstr("threads: OMP_WAIT_POLICY=active\n"),
            HasSubstr("data data: network file system (nfs4, server:/d on /mnt), page cache partly cached: 50 % of "
                      "2 sampled files, unknown for 3 of another owner"),
            HasSubstr("2 ranks, MPI MPICH 4.0.2:\n"), HasSubstr("1     other  2-3,5"),
            StartsWith("No conflicts found; 1 thing distorts measurements:\n"
                       "- this spoils figures: do that\n")));
  EXPECT_THAT(doctor_table(without_gpu()),
              AllOf(HasSubstr("one rank: cores 0, MPI none\n"), Not(HasSubstr("cgroup")), Not(HasSubstr("threads:")),
                    StartsWith("No conflicts found, and nothing that distorts measurements.\n")));
}

TEST(DoctorTable, BriefNamesConflictsMachineDataAndRanksAlone) {
  EXPECT_THAT(doctor_table(with_gpu(), {}, true),
              AllOf(StartsWith("1 conflict between installed components, and nothing that distorts measurements.\n"
                               "does not fit: this does not go with that\n"),
                    HasSubstr("Some GPU"), Not(HasSubstr("cuDNN    ")), Not(HasSubstr("built with"))));
  EXPECT_THAT(doctor_table(in_a_job(), {}, true),
              AllOf(HasSubstr("- this spoils figures: do that\n"), HasSubstr("machine host: "),
                    HasSubstr("data data: network file system"), HasSubstr("2 ranks, MPI MPICH 4.0.2:\n"),
                    Not(HasSubstr("/dev/shm")), Not(HasSubstr("threads:"))));
}

TEST(DoctorTable, SaysHowAParallelFileSystemSpreadsFiles) {
  Doctor doctor = in_a_job();
  measure::Striping& striping = doctor.surroundings.data->striping.emplace();
  striping = {.system = "Lustre", .tool = "lfs getstripe", .stripes = {{1, 1048576}, {4, 1048576}, {-1, 4194304}}};
  EXPECT_THAT(doctor_table(doctor),
              HasSubstr("\nLustre spreads a new file of that folder: one target, then 1024 KiB on each of 4 targets, "
                        "round-robin, then 4096 KiB on every target, round-robin (lfs getstripe)\n"));
  striping = {.system = "GPFS", .tool = "mmlsfs", .stripes = {{{}, 8388608}}};
  EXPECT_THAT(doctor_table(doctor), HasSubstr("\nGPFS spreads a new file of that folder: blocks of 8192 KiB over all "
                                              "disks (mmlsfs)\n"));
  striping = {.system = "BeeGFS", .problem = "beegfs-ctl is not on PATH"};
  EXPECT_THAT(doctor_table(doctor),
              HasSubstr("\nBeeGFS: how it spreads files is unknown: beegfs-ctl is not on PATH\n"));
}

TEST(DoctorJson, HoldsTheStriping) {
  Doctor doctor = in_a_job();
  doctor.surroundings.data->striping = {
      .system = "Lustre", .tool = "lfs getstripe", .stripes = {{4, 1048576}, {{}, 1024}}};
  const auto striping = nlohmann::json::parse(doctor_json(doctor))["data"]["striping"];
  EXPECT_EQ(striping["system"], "Lustre");
  EXPECT_EQ(striping["stripes"][0]["targets"], 4);
  EXPECT_EQ(striping["stripes"][0]["chunk_bytes"], 1048576);
  EXPECT_TRUE(striping["stripes"][1]["targets"].is_null());
  EXPECT_EQ(striping["problem"], "");
  EXPECT_TRUE(nlohmann::json::parse(doctor_json(in_a_job()))["data"]["striping"].is_null());
}

TEST(DoctorJson, HoldsTheSurroundings) {
  const auto object = nlohmann::json::parse(doctor_json(in_a_job()));
  EXPECT_EQ(object["cpu"]["numa_nodes"].size(), 2u);
  EXPECT_EQ(object["cpu"]["governors"]["powersave"], 16);
  EXPECT_EQ(object["network"][0]["bits_per_s"], 10'000'000'000);
  EXPECT_EQ(object["cgroup"]["cpus"], 3.5);
  EXPECT_EQ(object["memory"]["page_cache_bytes"], 5'000'000'000);
  EXPECT_EQ(object["shared_memory"]["total_bytes"], 64'000'000);
  EXPECT_EQ(object["shared_memory"]["free_bytes"], 60'000'000);
  EXPECT_EQ(object["shared_memory"]["problem"], "denied");
  EXPECT_EQ(object["threading"]["OMP_WAIT_POLICY"], "active");
  EXPECT_EQ(object["ranks"][1]["cores_per_rank"], 3);
  EXPECT_EQ(object["data"]["kind"], "network");
  EXPECT_EQ(object["data"]["page_cache"], "partly cached");
  EXPECT_EQ(object["warnings"][0], "this spoils figures: do that");
  const auto plain = nlohmann::json::parse(doctor_json(without_gpu()));
  EXPECT_TRUE(plain["data"].is_null());
  EXPECT_TRUE(plain["cgroup"]["memory_bytes"].is_null());
}

TEST(DoctorJson, HoldsAllOfIt) {
  const auto object = nlohmann::json::parse(doctor_json(with_gpu()));
  EXPECT_EQ(object["chexbench_version"], CHEXBENCH_VERSION);
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
}  // namespace chexbench::verbs
