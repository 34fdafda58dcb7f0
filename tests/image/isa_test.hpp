// Runs one test suite over all implementations of a kernel.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "image/isa.hpp"

namespace chexbench::image {

class IsaTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!supported(GetParam())) GTEST_SKIP() << "this CPU has no " << to_string(GetParam());
  }
};

inline std::string isa_name(const testing::TestParamInfo<Isa>& info) { return std::string(to_string(info.param)); }

}  // namespace chexbench::image
