// Collects the deviations of computed values from golden ones, and decides whether they are small enough.
#pragma once

#include <string>
#include <vector>

namespace chexbench::verbs {

// The deviations of one kind of value. Not thread-safe.
class Comparison {
 public:
  // The deviation that must not exceed the limit.
  enum class By { worst, median };

  Comparison(std::string name, double allowed, By by = By::worst);

  // Adds a deviation, which is at least 0; NaN counts as infinite. `where` names the value in text().
  void add(double deviation, const std::string& where);
  // Returns whether the deviation is within the limit; true if nothing was added.
  bool holds() const { return judged() <= allowed_; }
  // Returns one line with the deviation, the limit, and the place of the worst deviation.
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

// What an engine computed.
struct Learned {
  std::string device;
  std::vector<std::string> names;  // of the parameters
  std::vector<std::vector<float>> gradients;
  std::vector<double> losses;  // of consecutive steps
};

// Three trainings: in f32, in a precision with separate passes, and in that precision with fused convolutions.
struct Trainings {
  Learned exact, apart, fused;
};

// Appends a line for each comparison to `text`, with its limit and the worst place, and returns whether all hold. A
// deviation of a gradient is the L2 norm of its difference to f32, relative to the norm of f32's; that of a loss is
// relative to the first loss. A value that is not finite deviates infinitely. Gradients that are zero except for
// rounding, such as that of a bias before a norm (under a thousandth of the largest in its layer), are not judged.
//
// A rounded activation that changes its sign switches whole paths of the gradient, so that gradients of early layers
// may be unrelated to those of f32. So only parameters whose separate passes are at most 0.3 from f32 are judged, and
// `text` states how many. The limits are
// - gradients with separate passes: 0.3 in the median
// - gradients with fused convolutions: 3 times as far from f32 as with separate passes, and 0.1; a kernel that computes
//   something else is off by about 1
// - the same in the median over the judged parameters: 1.5 times as far, and 2e-2
// - losses with fused convolutions: 2 times as far from f32 as with separate passes, and 2e-2
// - the last loss: 0.8 of the first, in all three
// All trainings must have the same parameters and the same number of losses.
bool compare_trainings(const Trainings& trainings, std::string& text);

}  // namespace chexbench::verbs
