#include "report/figure_text.hpp"

#include <fmt/format.h>

namespace chexbench::report {

std::string gigabytes(std::uint64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string times(double ratio) { return fmt::format("{:.2f} x", ratio); }

std::string interval_text(const std::optional<measure::Ratio>& ratio) {
  return ratio && ratio->ci95 ? fmt::format("{:.2f} .. {:.2f}", ratio->ci95->low, ratio->ci95->high) : "";
}

}  // namespace chexbench::report
