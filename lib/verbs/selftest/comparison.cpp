#include "verbs/selftest/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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

namespace {

constexpr double kJudged = 0.3;  // largest deviation of separate passes for which a parameter is judged
constexpr double kEachFused = 3, kEachMore = 0.1;
constexpr double kMedianFused = 1.5, kMedianMore = 2e-2;
constexpr double kLossesFused = 2, kLossesMore = 2e-2;
constexpr double kLearned = 0.8;
constexpr double kOfLayer = 1e-3;

// Returns which gradients are not zero in exact arithmetic, unlike that of a bias before a norm.
std::vector<bool> exist(const Learned& exact) {
  std::map<std::string, double> largest;
  for (std::size_t i = 0; i < exact.names.size(); ++i) {
    double& layer = largest[layer_of(exact.names[i])];
    layer = std::max(layer, l2_norm(exact.gradients[i]));
  }
  std::vector<bool> result;
  for (std::size_t i = 0; i < exact.names.size(); ++i)
    result.push_back(l2_norm(exact.gradients[i]) > kOfLayer * largest[layer_of(exact.names[i])]);
  return result;
}

double deviation(const std::vector<float>& gradient, const std::vector<float>& exact) {
  double squares = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double difference = static_cast<double>(gradient[k]) - static_cast<double>(exact[k]);
    squares += difference * difference;
  }
  return std::sqrt(squares) / l2_norm(exact);
}

double loss_deviation(const Learned& learned, const Learned& exact, std::size_t step) {
  return std::abs(learned.losses[step] - exact.losses[step]) / exact.losses.front();
}

Comparison compared_losses(const Trainings& trainings) {
  const auto& [exact, apart, fused] = trainings;
  double worst_apart = 0;
  for (std::size_t i = 0; i < exact.losses.size(); ++i)
    worst_apart = std::max(worst_apart, loss_deviation(apart, exact, i));
  Comparison losses("losses, fused", kLossesFused * worst_apart + kLossesMore);
  for (std::size_t i = 0; i < exact.losses.size(); ++i)
    losses.add(loss_deviation(fused, exact, i), fmt::format("step {}", i + 1));
  return losses;
}

// Compares the gradients, and returns whether they hold.
bool compare_gradients(const Trainings& trainings, std::string& text) {
  const auto& [exact, apart, fused] = trainings;
  const std::vector<bool> is_there = exist(exact);
  Comparison separate("gradients, separate, median", kJudged, Comparison::By::median);
  Comparison each("gradients, fused / (3 separate + 0.1)", 1);
  Comparison median("gradients, fused / (1.5 separate + 0.02), median", 1, Comparison::By::median);
  std::size_t judged = 0;
  for (std::size_t i = 0; i < exact.names.size(); ++i) {
    if (!is_there[i]) continue;
    const double of_apart = deviation(apart.gradients[i], exact.gradients[i]);
    separate.add(of_apart, exact.names[i]);
    if (!(of_apart <= kJudged)) continue;
    ++judged;
    const double of_fused = deviation(fused.gradients[i], exact.gradients[i]);
    each.add(of_fused / (kEachFused * of_apart + kEachMore), exact.names[i]);
    median.add(of_fused / (kMedianFused * of_apart + kMedianMore), exact.names[i]);
  }
  text += separate.text() + each.text() + median.text();
  text += fmt::format("  judged: {} of {} parameters; rounding alone moves the others too far\n", judged,
                      exact.names.size());
  return separate.holds() && each.holds() && median.holds();
}

}  // namespace

bool compare_trainings(const Trainings& trainings, std::string& text) {
  const auto& [exact, apart, fused] = trainings;
  const bool gradients_hold = compare_gradients(trainings, text);
  Comparison learning("last loss / first loss", kLearned);
  for (const Learned* const one : {&exact, &apart, &fused})
    learning.add(one->losses.back() / one->losses.front(), one == &exact   ? "f32"
                                                           : one == &apart ? "separate"
                                                                           : "fused");
  const Comparison losses = compared_losses(trainings);
  text += losses.text() + learning.text();
  return gradients_hold && losses.holds() && learning.holds();
}

}  // namespace chexbench::verbs
