#include "analysis/starvation.hpp"

#include <fmt/format.h>

namespace chexbench::analysis {

std::string starved_sentence(const Waiting& waiting) {
  return fmt::format(
      "{} starves its accelerator: no batch was ready for {:.0f} % of the time{}; {} {}/s, of at most {} without the "
      "wait.",
      waiting.name, 100 * waiting.wait_share, waiting.why, rate(waiting.images_per_s), waiting.unit,
      rate(waiting.images_per_s_without_wait));
}

std::string fed_sentence(const Waiting& waiting) {
  const std::string busy =
      waiting.busy_share ? fmt::format(" and is busy for {:.0f} %", 100 * *waiting.busy_share) : "";
  return fmt::format("{} keeps its accelerator fed: it waits for {:.1f} % of the time{}, {} {}/s.", waiting.name,
                     100 * waiting.wait_share, busy, rate(waiting.images_per_s), waiting.unit);
}

std::string rate(double images_per_s) { return fmt::format("{:.{}f}", images_per_s, images_per_s < 100 ? 1 : 0); }

std::string whole_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace chexbench::analysis
