#include "spec/class_weights.hpp"

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

}  // namespace chexbench::spec
