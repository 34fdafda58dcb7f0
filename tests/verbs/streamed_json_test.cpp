// A reader's result for JSON that breaks the rules.
#include "verbs/diagnose/foreign/streamed_json.hpp"

#include <gtest/gtest.h>

namespace chexbench::verbs::foreign {
namespace {

std::string mended(const std::string& text) {
  ByteReader reader(fill_from(text), "log");
  MendedJson json(reader);
  std::string out;
  for (; !json.at_end(); json.skip()) out += json.peek();
  return out;
}

TEST(MendedJson, LeavesStrictJsonAsItIs) {
  for (const char* const text :
       {"[]", R"({"a": [1,-2.5E+3,1e-9,true,false,null],"b": {}})", R"(["NaN, ]}","\"\\","\u00e9"])",
        "[\"\xc3\xa9 \xf0\x9f\x98\x80\"]", "\"\"", "1", ""}) {
    EXPECT_EQ(mended(text), text);
  }
}

TEST(MendedJson, TakesCommasAwayBeforeAnEnd) {
  EXPECT_EQ(mended("[1,]"), "[1 ]");
  EXPECT_EQ(mended("{\"a\": [1, \n] , \t}"), "{\"a\": [1 ]  }");
  EXPECT_EQ(mended("[1,,2]"), "[1,,2]");
}

TEST(MendedJson, EndsAListThatIsTheWholeFile) {
  EXPECT_EQ(mended("[1"), "[1]");
  EXPECT_EQ(mended("[{},\n"), "[{} ]");
  EXPECT_EQ(mended("[[1]"), "[[1]]");
  for (const char* const text : {"[{", "[[1", "[\"a", "{\"a\": 1", "{\"a\": [1"}) EXPECT_EQ(mended(text), text);
}

TEST(MendedJson, QuotesWhatIsNoNumber) {
  EXPECT_EQ(mended("[NaN,nan,-Infinity,inf,-nan]"), R"(["NaN","nan","-Infinity","inf","-nan"])");
  EXPECT_EQ(mended("[none,nanny]"), "[none,nanny]");
}

TEST(MendedJson, ReplacesBytesThatATextMayNotHold) {
  EXPECT_EQ(mended("\"a\nb\tc\x01\""), "\"a b c \"");
  EXPECT_EQ(mended("\"\xff \xe9t\xe9 \xed\xa0\x80 \xc3\""), "\"? ?t? ? ?\"");
  EXPECT_EQ(mended(R"("\ud83d\ude00 \uDFFF \uD7FF \u12")"), R"("?? ? \uD7FF \u12")");
}

}  // namespace
}  // namespace chexbench::verbs::foreign
