#include "spec/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string syntax_error(const std::string& text) {
  return error_of([&] { parse_document(text, "x.json"); });
}

TEST(Document, KeepsTheOrderOfKeys) {
  const Node node = parse_document(R"({"b": 1, "a": 2, "c": 3})", "x.json");
  ASSERT_NE(node.object(), nullptr);
  std::vector<std::string> keys;
  for (const auto& [key, value] : *node.object()) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("b", "a", "c"));
}

TEST(Document, AllowsCommentsOfBothKinds) {
  const Node node = parse_document("// one\n{ /* two */ \"a\": 1 // three\n}", "x.json");
  EXPECT_NE(find_member(*node.object(), "a"), nullptr);
}

TEST(Document, NamesLineAndColumnOfWrongSyntax) {
  EXPECT_THAT(syntax_error("{\n  \"a\": 1,\n  \"b\": }\n"), StartsWith("x.json:3:8: not valid JSON"));
  EXPECT_THAT(syntax_error("{]"), StartsWith("x.json:1:2: "));
  EXPECT_THAT(syntax_error(""), StartsWith("x.json:1:1: "));
  EXPECT_THAT(syntax_error("{\n\"a\": tru\n}"), StartsWith("x.json:2:"));
}

TEST(Document, DoesNotShowTheLibrarysOwnWords) {
  for (const std::string text :
       {"{", "[1,]", "{\"a\": nul}", "{\"a\" 1}", "\x01", "{\"a\": 1} x", "{\"a\": 1e999}", "\"\xff\""}) {
    const std::string error = syntax_error(text);
    EXPECT_THAT(error, StartsWith("x.json:1:")) << text;
    EXPECT_THAT(error, Not(HasSubstr("json.exception"))) << text;
    EXPECT_THAT(error, Not(HasSubstr("parse_error"))) << text;
    EXPECT_THAT(error, Not(HasSubstr("out_of_range"))) << text;
  }
}

TEST(Document, GuessesACommaTooMany) {
  EXPECT_THAT(syntax_error("{\"a\": 1,}"), HasSubstr("a comma too many before it?"));
  EXPECT_THAT(syntax_error("{\"a\": [1,]}"), HasSubstr("a comma too many before it?"));
}

TEST(Document, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(syntax_error(R"({"data": {"root": "a", "root": "b"}})"),
            "x.json: 'data.root' appears twice; keep one of them");
  EXPECT_THAT(syntax_error(R"({"pipeline": [{"op": "map"}, {"op": "map", "op": "read"}]})"),
              HasSubstr("'pipeline[1].op' appears twice"));
  EXPECT_THAT(syntax_error(R"({"a": 1, "b": 2, "a": 3})"), HasSubstr("'a' appears twice"));
}

TEST(Document, AllowsTheSameKeyInTwoObjects) {
  EXPECT_NO_THROW(parse_document(R"({"model": {"seed": 1}, "measure": {"seed": 2}})", "x.json"));
}

TEST(Document, RefusesDeepNestingInsteadOfOverflowingTheStack) {
  EXPECT_THAT(syntax_error(std::string(100000, '[')), HasSubstr("nested more than 64 deep"));
}

TEST(Document, RefusesMoreKeysThanAnySpecHas) {
  std::string text = "{";
  for (int i = 0; i < 1001; ++i) text.append("\"").append(std::to_string(i)).append("\": 1, ");
  EXPECT_EQ(syntax_error(text), "x.json: an object of more than 1000 keys");
}

TEST(Document, SaysThatANumberIsTooLarge) {
  EXPECT_EQ(syntax_error("{\"a\": 1e400}"), "x.json:1:11: not valid JSON: a number too large: '1e400'");
}

TEST(Document, ShowsTheBeginningOfALongText) {
  EXPECT_EQ(shown(std::string(100, 'a')), std::string(100, 'a'));
  EXPECT_EQ(shown(std::string(101, 'a')), std::string(100, 'a') + "...");
  EXPECT_EQ(shown(std::string(99, 'a') + "\xc3\xa4"), std::string(99, 'a') + "...");
  EXPECT_LT(syntax_error(std::string(1'000'000, 'a').insert(0, 1, '"')).size(), 600u);
  EXPECT_LT(describe(Node{std::string(1'000'000, 'a')}).size(), 200u);
}

TEST(Document, TellsNumbersApart) {
  const Node node = parse_document("[1, -1, 1.0, 9223372036854775807, 9223372036854775808]", "x.json");
  const List& list = *node.list();
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(list[0].value));
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(list[1].value));
  EXPECT_TRUE(std::holds_alternative<double>(list[2].value));
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(list[3].value));
  EXPECT_TRUE(std::holds_alternative<double>(list[4].value));
}

TEST(Document, SaysWhetherATextIsJsonByItself) {
  Node node;
  EXPECT_TRUE(try_parse_document("[1, 2]", "--set", &node));
  EXPECT_NE(node.list(), nullptr);
  EXPECT_FALSE(try_parse_document("optimized", "--set", &node));
  EXPECT_FALSE(try_parse_document("//server/share", "--set", &node));
  EXPECT_FALSE(try_parse_document("", "--set", &node));
}

TEST(Document, WritesAnElementOfAListPerLine) {
  const std::string text = R"({
  "a": {
    "b": [1, 2],
    "c": [
      {"d": "e", "f": [true, null]},
      {}
    ]
  },
  "g": 0.5
})";
  EXPECT_EQ(to_text(parse_document(text, "x.json")), text);
}

TEST(Document, WritesTextThatIsNoUtf8WithoutFailing) {
  EXPECT_EQ(to_text(Node{std::string("a\xff")}), "\"a\xEF\xBF\xBD\"");
}

TEST(Document, DescribesValuesForMessages) {
  EXPECT_EQ(describe(Node{std::string("abc")}), "the text \"abc\"");
  EXPECT_EQ(describe(Node{true}), "true");
  EXPECT_EQ(describe(Node{3.5}), "3.5");
  EXPECT_EQ(describe(Node{}), "null");
  EXPECT_EQ(describe(Node{List{}}), "a list");
  EXPECT_EQ(describe(Node{Object{}}), "an object");
}

TEST(TextFile, ReadsAFileWhole) {
  const std::string path = testing::TempDir() + "text_file_test." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << std::string("a\r\nb\0c", 6);
  EXPECT_EQ(read_text_file(path, "experiment"), std::string("a\r\nb\0c", 6));
  std::filesystem::remove(path);
}

TEST(TextFile, NamesTheFileAndTheReason) {
  EXPECT_EQ(error_of([] { read_text_file("/no/such.json", "experiment"); }),
            "cannot read the experiment '/no/such.json': No such file or directory");
  EXPECT_THAT(error_of([] { read_text_file(testing::TempDir(), "pipeline"); }), HasSubstr("it is a folder"));
}

TEST(TextFile, RefusesAFileThatCannotBeASpec) {
  const std::string path = testing::TempDir() + "text_file_test_large." + std::to_string(getpid());
  std::ofstream(path).close();
  std::filesystem::resize_file(path, (16u << 20) + 1);
  EXPECT_THAT(error_of([&] { read_text_file(path, "experiment"); }), HasSubstr("larger than 16 MB"));
  std::filesystem::remove(path);
}

TEST(TextFile, ReadsAPipeWhoseTextComesLate) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::jthread writer([end = ends[1]] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(::write(end, "{}", 2), 2);
    ::close(end);
  });
  EXPECT_EQ(read_text_file("/dev/fd/" + std::to_string(ends[0]), "experiment"), "{}");
  ::close(ends[0]);
}

TEST(TextFile, DoesNotWaitForAFifosWriter) {
  const std::string path = testing::TempDir() + "text_file_test_fifo." + std::to_string(getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_text_file(path, "experiment"), "");
  std::filesystem::remove(path);
}

TEST(TextFile, RefusesWhatHasNoEndOrCannotBeRead) {
  EXPECT_THAT(error_of([] { read_text_file("/dev/zero", "experiment"); }), HasSubstr("larger than 16 MB"));
  EXPECT_THAT(error_of([] { read_text_file("/proc/self/mem", "experiment"); }), HasSubstr("Input/output error"));
}

}  // namespace
}  // namespace chexbench::spec
