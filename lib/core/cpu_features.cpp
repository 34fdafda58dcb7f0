#include "core/cpu_features.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#include "core/errors.hpp"

namespace chexbench {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

CpuFeatures detect() {
  const char* const ceiling = std::getenv("CHEXBENCH_ISA");
  CpuFeatures features = features_below(x86_features(), ceiling != nullptr ? ceiling : "avx512");
  features.model = cpu_model();
  return features;
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

CpuFeatures features_below(const X86Features& offered, std::string_view ceiling) {
  if (ceiling != "baseline" && ceiling != "avx2" && ceiling != "avx512") {
    throw SpecError("CHEXBENCH_ISA must be baseline, avx2 or avx512, not '" + std::string(ceiling) + "'");
  }
  CpuFeatures features;
  if (ceiling == "baseline") return features;
  features.avx2 = offered.avx2;
  features.fma = offered.fma;
  if (ceiling == "avx2") return features;
  features.avx512 = offered.avx512f && offered.avx512bw && offered.avx512dq && offered.avx512vl;
  features.avx512_bf16 = features.avx512 && offered.avx512_bf16;
  features.amx_bf16 = features.avx512_bf16 && offered.amx_tile && offered.amx_bf16;
  return features;
}

}  // namespace chexbench
