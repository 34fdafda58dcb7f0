#include "kernel_time/kernel_times_json.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "core/json_text.hpp"

namespace chexbench::measure {
namespace {

// Returns the name unchanged if it is not a mangled C++ name.
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

std::string to_json(const KernelTimes& times) {
  std::string json = fmt::format(
      R"({{"problem": {}, "exact": {}, "lost_records": {}, "steps": {}, "window_s": {:.9f}, "kernel_s": {:.9f}, )"
      R"("kernels": {}, "copies": {}, "copies_s": {:.9f}, "memsets": {}, "memsets_s": {:.9f}, "costliest": [)",
      json_text(times.problem), times.exact, times.lost_records, times.steps, times.window_s, times.kernel_s,
      times.kernels, times.copies.count, times.copies.time_s, times.memsets.count, times.memsets.time_s);
  const char* comma = "";
  for (const OperationTime& kernel : times.costliest) {
    json += fmt::format("{}\n  {{\"name\": {}, \"count\": {}, \"time_s\": {:.9f}, \"own_s\": {:.9f}}}", comma,
                        json_text(demangled(kernel.name)), kernel.count, kernel.time_s, kernel.own_s);
    comma = ",";
  }
  return json + "]}\n";
}

}  // namespace chexbench::measure
