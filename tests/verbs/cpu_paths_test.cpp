// Which path each room takes on which CPU, from /proc/cpuinfo of invented and real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "engine/onednn/kernels.hpp"
#include "image/isa.hpp"
#include "measure/machine.hpp"

namespace chexbench {
namespace {

constexpr const char* kSkylake = "avx2 fma avx512f avx512dq avx512bw avx512vl";
constexpr const char* kIceLake = "avx2 fma avx512f avx512dq avx512bw avx512vl avx512vbmi avx512_vnni";
constexpr const char* kCooperLake = "avx2 fma avx512f avx512dq avx512bw avx512vl avx512_vnni avx512_bf16";
constexpr const char* kEmeraldRapidsInAVm =
    "hypervisor avx2 fma avx512f avx512dq avx512bw avx512vl avx512vbmi avx512_bf16 avx512_vnni avx512_fp16";
constexpr const char* kSapphireRapids =
    "avx2 fma avx512f avx512dq avx512bw avx512vl avx512vbmi avx512_bf16 avx512_vnni amx_tile amx_bf16 amx_int8";
constexpr const char* kIntel = "GenuineIntel";
constexpr const char* kAmd = "AuthenticAMD";

struct MadeCpu {
  std::string name;
  std::string vendor;
  int family, model, stepping;
  std::string flags;
  // Expected:
  std::string kind;
  std::string preprocessing;
  std::string training;
  std::vector<std::string> unused;

  std::string cpuinfo() const {
    std::ostringstream text;
    text << "processor\t: 0\nvendor_id\t: " << vendor << "\ncpu family\t: " << family << "\nmodel\t\t: " << model
         << "\nmodel name\t: a CPU\nstepping\t: " << stepping << "\nflags\t\t: " << flags << "\n";
    return text.str();
  }
  X86Features offered() const {
    const auto has = [this](const std::string& flag) {
      return (" " + flags + " ").find(" " + flag + " ") != std::string::npos;
    };
    return {.compiled = true,
            .avx2 = has("avx2"),
            .fma = has("fma"),
            .avx512f = has("avx512f"),
            .avx512bw = has("avx512bw"),
            .avx512dq = has("avx512dq"),
            .avx512vl = has("avx512vl"),
            .avx512_bf16 = has("avx512_bf16"),
            .amx_tile = has("amx_tile"),
            .amx_bf16 = has("amx_bf16")};
  }
};

const std::vector<std::string> kNone;
const std::vector<std::string> kHiddenAmx{"AMX (the hypervisor hides it)"};
const std::vector<std::string> kHidden512{"AVX-512 (the hypervisor hides it)", "AVX512_BF16 (the hypervisor hides it)"};
const std::vector<std::string> kOffAvx2{"AVX2 (the kernel or the firmware has switched it off)"};
const std::vector<std::string> kOff512{"AVX-512 (the kernel or the firmware has switched it off)"};
const std::string kVnni = std::string(kSkylake) + " avx512_vnni";
constexpr const char* kNoDq = "avx2 fma avx512f avx512bw avx512vl";
constexpr const char* kBf16 = "avx512, avx512_bf16";
constexpr const char* kAmx = "avx512, avx512_bf16, amx_bf16";

std::vector<MadeCpu> made_cpus() {
  return {
      {"Haswell", kIntel, 6, 63, 2, "avx2 fma", "Haswell", "avx2", "avx2", kNone},
      {"Broadwell", kIntel, 6, 79, 1, "avx2 fma", "Broadwell", "avx2", "avx2", kNone},
      {"SkylakeSP", kIntel, 6, 85, 4, kSkylake, "Skylake-SP", "avx512", "avx512", kNone},
      {"CascadeLake", kIntel, 6, 85, 7, kVnni, "Cascade Lake", "avx512", "avx512", kNone},
      {"CooperLake", kIntel, 6, 85, 11, kCooperLake, "Cooper Lake", "avx512", kBf16, kNone},
      {"IceLake", kIntel, 6, 106, 6, kIceLake, "Ice Lake", "avx512", "avx512", kNone},
      {"SapphireRapids", kIntel, 6, 143, 8, kSapphireRapids, "Sapphire Rapids", "avx512", kAmx, kNone},
      {"EmeraldRapidsVm", kIntel, 6, 207, 2, kEmeraldRapidsInAVm, "Emerald Rapids", "avx512", kBf16, kHiddenAmx},
      {"Zen2", kAmd, 23, 49, 0, "avx2 fma", "Zen 2", "avx2", "avx2", kNone},
      {"Zen3", kAmd, 25, 1, 1, "avx2 fma", "Zen 3", "avx2", "avx2", kNone},
      {"Zen4", kAmd, 25, 17, 1, kCooperLake, "Zen 4", "avx512", kBf16, kNone},
      {"Zen4InAVmOfAvx2", kAmd, 25, 17, 1, "fma avx2 hypervisor", "Zen 4", "avx2", "avx2", kHidden512},
      {"Zen5", kAmd, 26, 2, 1, kCooperLake, "Zen 5", "avx512", kBf16, kNone},
      {"HaswellWithoutFma", kIntel, 6, 63, 2, "avx2", "Haswell", "avx2", "baseline", kOffAvx2},
      {"SkylakeSPWithoutDq", kIntel, 6, 85, 4, kNoDq, "Skylake-SP", "avx2", "avx2", kOff512},
      {"Unknown", "SomeVendor", 6, 85, 4, kSkylake, "", "avx512", "avx512", kNone},
  };
}

class CpuPathsTest : public testing::TestWithParam<MadeCpu> {};

TEST_P(CpuPathsTest, IsThatOfTheFeaturesThatItNeeds) {
  const MadeCpu& cpu = GetParam();
  const CpuFeatures features = features_below(cpu.offered(), "avx512");
  EXPECT_EQ(to_string(image::best_isa(features)), cpu.preprocessing);
  EXPECT_EQ(engine::onednn::instruction_sets(features), cpu.training);
  const auto kind = measure::find_cpu_kind(cpu.cpuinfo());
  ASSERT_EQ(kind.has_value(), !cpu.kind.empty());
  if (!kind) return;
  EXPECT_EQ(kind->name, cpu.kind);
  const bool in_vm = cpu.flags.find("hypervisor") != std::string::npos;
  EXPECT_EQ(measure::unused_instruction_sets(*kind, cpu.offered(), features, in_vm), cpu.unused);
}

TEST_P(CpuPathsTest, StaysBelowTheCeiling) {
  const CpuFeatures avx2 = features_below(GetParam().offered(), "avx2");
  EXPECT_EQ(to_string(image::best_isa(avx2)), "avx2");
  EXPECT_EQ(engine::onednn::instruction_sets(avx2), avx2.fma ? "avx2" : "baseline");
  const CpuFeatures baseline = features_below(GetParam().offered(), "baseline");
  EXPECT_EQ(to_string(image::best_isa(baseline)), "baseline");
  EXPECT_EQ(engine::onednn::instruction_sets(baseline), "baseline");
}

INSTANTIATE_TEST_SUITE_P(Cpus, CpuPathsTest, testing::ValuesIn(made_cpus()),
                         [](const auto& cpu) { return cpu.param.name; });

TEST(CpuPaths, OfAnotherArchitectureAreTheBaseline) {
  const CpuFeatures features = features_below({}, "avx512");
  EXPECT_EQ(to_string(image::best_isa(features)), "baseline");
  EXPECT_EQ(engine::onednn::instruction_sets(features), "baseline");
  EXPECT_FALSE(measure::find_cpu_kind("processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\n").has_value());
  EXPECT_FALSE(measure::find_cpu_kind("").has_value());
}

TEST(CpuPaths, NameTheCeilingAndTheBuildWhereTheyRuleASetOut) {
  MadeCpu cpu{.vendor = kIntel, .family = 6, .model = 85, .stepping = 4, .flags = kSkylake};
  const auto kind = measure::find_cpu_kind(cpu.cpuinfo());
  ASSERT_TRUE(kind);
  EXPECT_THAT(measure::unused_instruction_sets(*kind, cpu.offered(), features_below(cpu.offered(), "avx2"), true),
              testing::ElementsAre("AVX-512 (CHEXBENCH_ISA rules it out)"));
  EXPECT_THAT(
      measure::unused_instruction_sets(*kind, {}, features_below({}, "avx512"), true),
      testing::ElementsAre("AVX2 (this build has no kernels for it)", "AVX-512 (this build has no kernels for it)"));
}

}  // namespace
}  // namespace chexbench
