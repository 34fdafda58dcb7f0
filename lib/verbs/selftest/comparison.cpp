#include "verbs/selftest/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace chexbench::verbs {

Comparison::Comparison(std::string name, double allowed, By by) : name_(std::move(name)), allowed_(allowed), by_(by) {}

void Comparison::add(double deviation, const std::string& where) {
  deviations_.push_back(std::isnan(deviation) ? std::numeric_limits<double>::infinity() : deviation);
  if (deviations_.back() <= worst_) return;
  worst_ = deviations_.back();
  where_ = where;
}

double Comparison::judged() const {
  if (by_ == By::worst || deviations_.empty()) return worst_;
  std::vector<double> sorted = deviations_;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

std::string Comparison::text() const {
  const std::string place = where_.empty()     ? ""
                            : by_ == By::worst ? "  worst at " + where_
                                               : fmt::format("  worst {:.1e} at {}", worst_, where_);
  return fmt::format("  {:<24} {:.1e} of {:.0e}{}\n", name_, judged(), allowed_, place);
}

double l2_norm(const std::vector<float>& values) {
  const double squares = std::accumulate(values.begin(), values.end(), 0.0, [](double sum, float value) {
    return sum + static_cast<double>(value) * static_cast<double>(value);
  });
  return std::sqrt(squares);
}

std::string layer_of(const std::string& parameter) { return parameter.substr(0, parameter.rfind('.')); }

}  // namespace chexbench::verbs
