#include "core/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/printable.hpp"

namespace chexbench {
namespace {

// Returns the optimal string alignment distance: Levenshtein's, plus swaps of neighbours, the most common typing error.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

Error::Error(ExitCode code, const std::string& message)
    : std::runtime_error(code == ExitCode::comparison ? printable_lines(message)
                                                      : printable(message, std::string::npos)),
      code_(code) {}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t kLongestName = 100;  // bytes: comparing longer names is slow, and no known name is that long
  if (name.size() > kLongestName) return "";
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    // The distance is at least the difference in length.
    if (longer - std::min(name.size(), candidate.size()) >= best_distance) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t kMostKnown = 2000;  // bytes: a file may name any number of candidates
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return fmt::format(" (did you mean '{}'?)", printable(nearest));
  if (candidates.empty()) return "";
  return fmt::format(" (known: {})", printable(fmt::format("{}", fmt::join(candidates, ", ")), kMostKnown));
}

}  // namespace chexbench
