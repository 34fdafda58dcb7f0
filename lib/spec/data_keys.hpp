// The keys of what is read and from where: data, preprocess and store.
#pragma once

#include <vector>

#include "spec/keys.hpp"

namespace chexbench::spec {

// Appends their rules, in the order in which a spec shows them. Private to keys.cpp.
void add_data_keys(std::vector<KeyRule>& rules);

}  // namespace chexbench::spec
