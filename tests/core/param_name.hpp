#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace chexbench {

// Names a test after its parameter, which is a string; GoogleTest would number it.
struct ParamName {
  template <typename Text>
  std::string operator()(const testing::TestParamInfo<Text>& info) const {
    std::string name(info.param);
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
  }
};

}  // namespace chexbench
