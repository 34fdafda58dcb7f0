#include <gtest/gtest.h>

#include "results/record_json.hpp"

namespace chexbench::results {
namespace {

TEST(Spread, KeepsAListOfPlainValuesOnOneLine) {
  EXPECT_EQ(spread(R"({"a":[1,"x, ]",null],"b":{"c":true}})"),
            "{\n  \"a\": [1,\"x, ]\",null],\n  \"b\": {\n    \"c\": true\n  }\n}");
}

TEST(Spread, GivesEachItemThatHasItemsALine) {
  EXPECT_EQ(spread(R"([[1,2],{"a":1},3])"), "[\n  [1,2],\n  {\n    \"a\": 1\n  },\n  3\n]");
  EXPECT_EQ(spread("[[],{}]"), "[\n  [],\n  {}\n]");
}

TEST(Spread, LeavesTextsAsTheyAre) {
  EXPECT_EQ(spread(R"({"a\"{":"\\","b":"[:,"})"), "{\n  \"a\\\"{\": \"\\\\\",\n  \"b\": \"[:,\"\n}");
  EXPECT_EQ(spread(R"("a:b")"), R"("a:b")");
  EXPECT_EQ(spread("{}"), "{}");
}

TEST(Spread, ChangesNothingButBlanks) {
  const Json value = Json::parse(R"({"a":[[1,[2]],{"b":[]}],"c":-1.5e9,"d":{"e":{}}})");
  EXPECT_EQ(Json::parse(spread(dump(value))), value);
}

}  // namespace
}  // namespace chexbench::results
