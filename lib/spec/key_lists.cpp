#include "spec/key_lists.hpp"

#include <fmt/format.h>

#include <string_view>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "spec/document.hpp"

namespace chexbench::spec {
namespace {

constexpr std::string_view kNone = "none", kBalanced = "balanced";
constexpr float kLargest = 1e6f;

}  // namespace

bool balances_classes(const TrainingSpec& training) { return training.class_weights == kBalanced; }

std::vector<float> stated_class_weights(const TrainingSpec& training) {
  std::vector<float> weights;
  std::string_view rest = training.class_weights;
  if (rest == kNone || rest == kBalanced) return weights;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view text = trimmed(rest.substr(0, comma));
    const auto weight = parse_number<float>(text);
    if (!weight || !(*weight > 0 && *weight <= kLargest)) {
      const std::string name(text);
      throw SpecError(fmt::format(
          "training.class_weights must be none, balanced, or numbers above 0 and up to {}, not '{}'{}", kLargest,
          shown(name), suggestion(name, std::vector{std::string(kNone), std::string(kBalanced)})));
    }
    weights.push_back(*weight);
    if (comma == std::string_view::npos) return weights;
    rest.remove_prefix(comma + 1);
  }
}

namespace {

constexpr std::string_view kPrefix = "cpus:";
constexpr int kMostCpus = 1024;  // of glibc's cpu_set_t

// Appends the CPUs of "8" or "0-3", and returns whether it was one of these.
bool append_range(std::string_view range, std::vector<int>& cpus) {
  const std::size_t dash = range.find('-');
  const auto first = parse_number<int>(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number<int>(range.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) return false;
  for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  return true;
}

}  // namespace

std::vector<int> second_job_cpus(const std::string& cores) {
  std::vector<int> cpus;
  if (!cores.starts_with(kPrefix)) return cpus;
  std::string_view left = std::string_view(cores).substr(kPrefix.size());
  for (bool more = true; more;) {
    const std::size_t comma = left.find(',');
    if (!append_range(left.substr(0, comma), cpus)) {
      throw SpecError(
          fmt::format("second_job.cores is '{}': a list of CPUs is such as cpus:0-3,8, below {}", cores, kMostCpus));
    }
    more = comma != std::string_view::npos;
    if (more) left.remove_prefix(comma + 1);
  }
  return cpus;
}

}  // namespace chexbench::spec
