// The keys of what a training minimizes and of how an update is made of gradients, besides optimizer and rate.
#pragma once

#include <vector>

#include "spec/keys.hpp"

namespace chexbench::spec {

// Appends their rules, in the order in which a spec shows them. Private to keys.cpp.
void add_learning_keys(std::vector<KeyRule>& rules);

}  // namespace chexbench::spec
