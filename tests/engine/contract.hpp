// The duties of engines of every kind: the properties are in contract_suite.cpp, and each test binary that compiles
// that file instantiates them for the engines that it can build.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "engine/engine.hpp"

namespace chexbench::engine {

struct EngineUnderTest {
  std::string kind;  // Also the name of the test.
  std::function<std::unique_ptr<Engine>(const EngineConfig&)> make;
  bool trains = true;
  bool drops_batches = false;
};

class EngineContract : public testing::TestWithParam<EngineUnderTest> {};

inline std::string name_of_engine(const testing::TestParamInfo<EngineUnderTest>& info) { return info.param.kind; }

}  // namespace chexbench::engine
