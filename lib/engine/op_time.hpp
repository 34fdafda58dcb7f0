// How long an engine's ops take.
#pragma once

#include <string>

namespace chexbench::engine {

// The time of all ops of one kind together, as "convolution 3x3".
struct OpTime {
  std::string kind;
  int ops = 0;           // of the network
  double forward_s = 0;  // in all steps together
  double backward_s = 0;
};

}  // namespace chexbench::engine
