// Every number of a spec has limits, or is a whole number that fits its member: no computation with it overflows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/keys.hpp"
#include "spec/ops.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;

constexpr double kMost = 1e15;  // for computations with a value: products with a million fit in 64 bits with a sign

struct NumericKey {
  std::string path;
  ValueRule values;
};

bool is_number(const ValueRule& rule) { return rule.type == ValueType::integer || rule.type == ValueType::number; }

// The numeric keys, and each op's numeric parameters as OP.PARAMETER.
std::vector<NumericKey> numeric_keys() {
  std::vector<NumericKey> keys;
  for (const KeyRule& rule : key_rules()) {
    if (is_number(rule.values)) keys.push_back({rule.path, rule.values});
  }
  for (const OpRule& op : op_rules()) {
    for (const ParameterRule& parameter : op.parameters) {
      if (is_number(value_rule(parameter))) keys.push_back({op.op + "." + parameter.name, value_rule(parameter)});
    }
  }
  return keys;
}

void PrintTo(const NumericKey& key, std::ostream* out) { *out << key.path; }

class NumericKeyTest : public testing::TestWithParam<NumericKey> {
 protected:
  std::string refusal(const Node& node) const {
    return error_of([&] { check_value(GetParam().values, node, GetParam().path); });
  }
};

TEST_P(NumericKeyTest, RefusesWhatNoMachineCanMean) {
  for (const double value : {1e300, -1e300, 1e19, -1e19, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(refusal(Node{value}), HasSubstr(GetParam().path + " must be")) << value;
  }
  for (const char* const text : {"nan", "inf", "1e300"}) {
    EXPECT_THAT(refusal(Node{std::string(text)}), HasSubstr(GetParam().path + " must be")) << text;
  }
}

TEST_P(NumericKeyTest, HasALimitUnlessItSeedsRandomNumbers) {
  if (GetParam().path.ends_with("seed")) GTEST_SKIP() << "any bits will do";
  EXPECT_LE(GetParam().values.maximum, kMost);
  EXPECT_GE(GetParam().values.minimum, 0);
  if (GetParam().values.type == ValueType::number) {
    EXPECT_THAT(refusal(Node{GetParam().values.maximum * 2}), HasSubstr("at most")) << "the limit is named";
  }
}

INSTANTIATE_TEST_SUITE_P(OfASpec, NumericKeyTest, testing::ValuesIn(numeric_keys()), [](const auto& key) {
  std::string name = key.param.path;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST(NumericOverride, IsRefusedByItsKey) {
  for (const NumericKey& key : numeric_keys()) {
    if (find_key(key.path) == nullptr) continue;
    for (const char* const value : {"1e300", "-1e300", "1e19", "nan"}) {
      EXPECT_THAT(spec_error("{}", {key.path + "=" + value}), HasSubstr(key.path + " must be")) << value;
    }
  }
}

}  // namespace
}  // namespace chexbench::spec
