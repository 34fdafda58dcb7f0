// Collects how far computed values are from golden ones, and decides whether they are near enough.
#pragma once

#include <string>
#include <vector>

namespace chexbench::verbs {

// The deviations of one kind of value. Not thread-safe.
class Comparison {
 public:
  // Which of the deviations must not exceed what is allowed.
  enum class By { worst, median };

  Comparison(std::string name, double allowed, By by = By::worst);

  // Adds a deviation, which is at least 0; NaN counts as infinite. `where` names the value in text().
  void add(double deviation, const std::string& where);
  // Returns whether the deviation is within what is allowed; true if nothing was added.
  bool holds() const { return judged() <= allowed_; }
  // Returns one line with the deviation, what is allowed, and where the worst deviation is.
  std::string text() const;

 private:
  double judged() const;

  const std::string name_;
  const double allowed_;
  const By by_;
  std::vector<double> deviations_;
  double worst_ = 0;
  std::string where_;
};

// Returns the square root of the sum of squares.
double l2_norm(const std::vector<float>& values);
// Returns the name of the layer that a parameter belongs to: "layer1.0.conv1" of "layer1.0.conv1.weight".
std::string layer_of(const std::string& parameter);

}  // namespace chexbench::verbs
