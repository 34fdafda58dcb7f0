#include "formats/manifest.hpp"

#include <gtest/gtest.h>

namespace chexbench::formats {
namespace {

TEST(ValueOf, TakesNoNumberThatWouldHaveToBeCast) {
  const nlohmann::json object = nlohmann::json::parse(
      R"({"whole": 7, "largest": 18446744073709551615, "negative": -1, "beyond": 1e300, "half": 0.5, "text": "7"})");
  EXPECT_EQ(value_of<std::uint64_t>(object, "whole"), 7u);
  EXPECT_EQ(value_of<std::uint64_t>(object, "largest"), ~std::uint64_t{0});
  for (const char* key : {"negative", "beyond", "half", "text", "missing"}) {
    EXPECT_EQ(value_of<std::uint64_t>(object, key), std::nullopt) << key;
  }
  EXPECT_EQ(value_of<double>(object, "half"), 0.5);
}

}  // namespace
}  // namespace chexbench::formats
