// How far measured values are from golden ones, and whether that is near enough.
#pragma once

#include <string>
#include <vector>

namespace chexbench::verbs {

// One kind of deviation. Not thread-safe.
class Comparison {
 public:
  // Which of the deviations is held against what is allowed.
  enum class By { worst, median };

  Comparison(std::string name, double allowed, By by = By::worst);

  // Not-a-number counts as infinitely far. `where` is for text().
  void add(double deviation, const std::string& where);
  // Nothing added holds.
  bool holds() const { return judged() <= allowed_; }
  // One line: what was found, what is allowed, and where the worst was.
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

}  // namespace chexbench::verbs
