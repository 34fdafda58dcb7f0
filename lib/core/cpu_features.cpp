#include "core/cpu_features.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/errors.hpp"
#include "core/x86_features.hpp"

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
  CpuFeatures features;
  features.model = cpu_model();
  const X86Features x86 = x86_features();
  features.avx2 = x86.avx2;
  features.avx512 = x86.avx512;
  features.avx512_bf16 = x86.avx512_bf16;
  const char* limit = std::getenv("CHEXBENCH_ISA");
  if (limit == nullptr) return features;
  const std::string_view isa = limit;
  if (isa != "baseline" && isa != "avx2" && isa != "avx512") {
    throw SpecError("CHEXBENCH_ISA must be baseline, avx2 or avx512, not '" + std::string(isa) + "'");
  }
  if (isa != "avx512") features.avx512 = features.avx512_bf16 = false;
  if (isa == "baseline") features.avx2 = false;
  return features;
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

}  // namespace chexbench
