#include "verbs/import/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Pair;
using testing::SizeIs;

std::vector<std::pair<std::string, std::string>> yaml_values(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const YamlValue& value : read_yaml(text, "w.yaml")) values.emplace_back(value.path, value.text);
  return values;
}

std::string yaml_complaint(const std::string& text) {
  return message_of<SpecError>([&] { read_yaml(text, "w.yaml"); });
}

TEST(Yaml, HasTheValuesOfMappingsUnderTheirPaths) {
  EXPECT_THAT(
      yaml_values("framework: pytorch\n\nreader: \n  batch_size: 24   # of a rank\n  data:\n    loader: 'a''b'\n"
                  "train:\n epochs: 8\nnone:\n"),
      ElementsAre(Pair("framework", "pytorch"), Pair("reader.batch_size", "24"), Pair("reader.data.loader", "a'b"),
                  Pair("train.epochs", "8"), Pair("none", "")));
}

TEST(Yaml, KnowsTheLineOfAValue) {
  const auto values = read_yaml("# one\na:\r\n  b: 1\r\n", "w.yaml");
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(values[0].line, 3);
}

TEST(Yaml, ReadsListsByDashesAndInBrackets) {
  EXPECT_THAT(yaml_values("columns:\n  - name: f0\n    read: false\n  - name: f1\nuris:\n- s3://a\n- 'b: c'\nlist: [1, "
                          "\"x, y\" , z]\nempty: []\nlast: 1\n"),
              ElementsAre(Pair("columns[0].name", "f0"), Pair("columns[0].read", "false"),
                          Pair("columns[1].name", "f1"), Pair("uris[0]", "s3://a"), Pair("uris[1]", "b: c"),
                          Pair("list[0]", "1"), Pair("list[1]", "x, y"), Pair("list[2]", "z"), Pair("last", "1")));
}

TEST(Yaml, ReadsWhatLooksLikeMoreThanItIs) {
  EXPECT_THAT(
      yaml_values("---\nurl: s3://bucket/a#b\nquoted: \"a # \\\"b\\\" \\\\\"  # c\ntext: a [b] {c} - d\n"),
      ElementsAre(Pair("url", "s3://bucket/a#b"), Pair("quoted", "a # \"b\" \\"), Pair("text", "a [b] {c} - d")));
  EXPECT_THAT(yaml_values("--- # here\na: 1\n... # there\n\n# more\n...\n"), ElementsAre(Pair("a", "1")));
  EXPECT_THAT(yaml_values("a:\n  b: 1\n...\n"), ElementsAre(Pair("a.b", "1")));
  EXPECT_THAT(yaml_values(""), IsEmpty());
  EXPECT_THAT(yaml_values("\xef\xbb\xbf# only this\n\n"), IsEmpty());
}

TEST(Yaml, RefusesOthersWithTheLineAndTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: 1\ntrai", "w.yaml:2: 'trai' is not 'key: value'; is the file truncated"},
      {"{\"a\": 1}", "w.yaml:1: '{\"a\": 1}' is not 'key: value'"},
      {"a: \x01", "w.yaml:1: it has a control character"},
      {"a:\n\tb: 1", "w.yaml:2: a tab indents it; indent by blanks"},
      {"a: 1\nb: 2\na: 3", "w.yaml:3: the key 'a' is there twice"},
      {"a: &x 1", "w.yaml:1: '&x 1': anchors, tags, braces"},
      {"a: *x", "w.yaml:1: '*x': anchors"},
      {"a: !!int 1", "w.yaml:1: '!!int 1': anchors"},
      {"a: {b: 1}", "w.yaml:1: '{b: 1}': anchors"},
      {"a: |\n  text", "w.yaml:1: '|': anchors"},
      {"a: one\n  two: 2", "w.yaml:2: it is indented, but the line before it has a value"},
      {"a:\n    b: 1\n  c: 2", "w.yaml:3: it is indented, but"},
      {"  a: 1\nb: 2", "w.yaml:2: it is indented less than the first key"},
      {"a: 1\n---\nb: 1", "w.yaml:2: this begins another document"},
      {"a: 1\n...\nb: 1", "w.yaml:3: this begins another document"},
      {"a: 1\n...\n---\n", "w.yaml:3: this begins another document"},
      {"%YAML 1.2\n", "w.yaml:1: this begins another document or directs"},
      {"a: 1\n- b", "w.yaml:2: keys and the items of a list"},
      {"a:\n  - - 1", "w.yaml:2: it begins a list in a list"},
      {"a: b: c", "w.yaml:1: 'b: c' has two keys on one line"},
      {"a: [1, 2", "w.yaml:1: a list in brackets"},
      {"a: ['1' 2]", "w.yaml:1: a list in brackets lacks a ','"},
      {"a: '1' 2", "w.yaml:1: '2' follows a value"},
      {"a: 'b", "w.yaml:1: a text in quotes does not end on its line"},
      {R"(a: "\x41")", "w.yaml:1: a text in quotes has an escape"}};
  for (const auto& [text, says] : cases) EXPECT_THAT(yaml_complaint(text), HasSubstr(says));
}

TEST(Yaml, OfAHostileFileTakesLittleMemoryAndText) {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
  EXPECT_THAT(yaml_complaint(deep), HasSubstr("w.yaml:16: nested more than 16 deep"));
  EXPECT_THAT(yaml_complaint(std::string(1'000'000, 'x') + ": 1"), HasSubstr("a key has more than 100 bytes"));
  EXPECT_THAT(yaml_complaint(std::string(1'000'000, 'x')), AllOf(HasSubstr("..."), testing::SizeIs(Lt(300u))));
  std::string many = "a:\n";
  for (int i = 0; i < 20'001; ++i) many += "- 1\n";
  EXPECT_THAT(yaml_complaint(many), HasSubstr("w.yaml:20002: more than 20000 values"));
}

}  // namespace
}  // namespace chexbench::verbs
