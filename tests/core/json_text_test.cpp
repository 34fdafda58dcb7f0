#include "core/json_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace chexbench {
namespace {

std::string lists(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(IsNestedTooDeep, CountsObjectsAndLists) {
  EXPECT_FALSE(is_nested_too_deep(""));
  EXPECT_FALSE(is_nested_too_deep(lists(kMaxJsonDepth)));
  EXPECT_TRUE(is_nested_too_deep(lists(kMaxJsonDepth + 1)));
  EXPECT_TRUE(is_nested_too_deep(R"({"a":)" + lists(kMaxJsonDepth)));
}

TEST(IsNestedTooDeep, CountsWhatIsOpenAndNotWhatStandsSideBySide) {
  std::string rows = "[";
  for (int i = 0; i < 1000; ++i) rows += "[{}],";
  EXPECT_FALSE(is_nested_too_deep(rows + "[]]"));
}

TEST(IsNestedTooDeep, CountsNoBracketsWithinStrings) {
  const std::string brackets(1000, '[');
  EXPECT_FALSE(is_nested_too_deep('"' + brackets + '"'));
  EXPECT_FALSE(is_nested_too_deep(R"("\")" + brackets + '"')) << "an escaped quote ends no string";
  EXPECT_TRUE(is_nested_too_deep(R"(["\\",)" + brackets)) << "an escaped backslash escapes no quote";
}

}  // namespace
}  // namespace chexbench
