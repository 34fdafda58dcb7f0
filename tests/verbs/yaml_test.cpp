#include "verbs/import/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/errors.hpp"

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
  try {
    read_yaml(text, "w.yaml");
  } catch (const SpecError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Yaml, HasTheValuesOfMappingsUnderTheirPaths) {
  EXPECT_THAT(yaml_values("framework: pytorch\n\nreader: \n  batch_size: 24   # of a rank\n  data:\n    loader: 'a b'\n"
                          "train:\n epochs: 8\nnone:\n"),
              ElementsAre(Pair("framework", "pytorch"), Pair("reader.batch_size", "24"),
                          Pair("reader.data.loader", "a b"), Pair("train.epochs", "8"), Pair("none", "")));
}

TEST(Yaml, KnowsTheLineOfAValue) {
  const auto values = read_yaml("# one\na:\r\n  b: 1\r\n", "w.yaml");
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(values[0].line, 3);
}

TEST(Yaml, ReadsListsInBracketsAndOnlyTheFirstLineOfOthers) {
  EXPECT_THAT(yaml_values("columns:\n  - name: f0\n    read: false\n  - name: f1\nuris:\n- s3://a\n- 'b: c'\nlist: [1, "
                          "\"x y\" , z]  # three\nempty: []\nlast: 1\n"),
              ElementsAre(Pair("columns", "- name: f0"), Pair("uris", "- s3://a"), Pair("list[0]", "1"),
                          Pair("list[1]", "x y"), Pair("list[2]", "z"), Pair("last", "1")));
}

TEST(Yaml, ReadsWhatLooksLikeMoreThanItIs) {
  EXPECT_THAT(yaml_values("---\nurl: s3://bucket/a#b\nquoted: \"a # 'b'\"  # c\ntext: a [b] {c} - d\n"),
              ElementsAre(Pair("url", "s3://bucket/a#b"), Pair("quoted", "a # 'b'"), Pair("text", "a [b] {c} - d")));
  EXPECT_THAT(yaml_values(""), IsEmpty());
  EXPECT_THAT(yaml_values("# only this\n\n"), IsEmpty());
}

struct RefusedYaml {
  const char* name;
  const char* text;
  const char* says;
};

class YamlRefuses : public testing::TestWithParam<RefusedYaml> {};

TEST_P(YamlRefuses, WithTheLineAndTheReason) {
  EXPECT_THAT(yaml_complaint(GetParam().text), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, YamlRefuses,
    testing::Values(RefusedYaml{"Cut", "a: 1\ntrai", "w.yaml:2: 'trai' is no 'key: value'; is the file cut"},
                    RefusedYaml{"Json", "{\"a\": 1}", "w.yaml:1: '{\"a\": 1}' is no 'key: value'"},
                    RefusedYaml{"QuotedKey", "'a': 1", "w.yaml:1: ''a': 1' is no 'key: value'"},
                    RefusedYaml{"ByteOrderMark",
                                "\xef\xbb\xbf"
                                "a: 1",
                                "a: 1' is no 'key: value'"},
                    RefusedYaml{"Merge", "<<: *x", "w.yaml:1: '<<: *x' is no 'key: value'"},
                    RefusedYaml{"Binary", "a: \x01", "w.yaml:1: it has a tab or another control character"},
                    RefusedYaml{"Tab", "a:\n\tb: 1", "w.yaml:2: it has a tab"},
                    RefusedYaml{"Twice", "a: 1\nb: 2\na: 3", "w.yaml:3: the key 'a' is there twice"},
                    RefusedYaml{"TwiceInside", "a:\n  b: 1\nc: 1\na:\n  b: 2", "w.yaml:4: the key 'a' is there twice"},
                    RefusedYaml{"Anchor", "a: &x 1", "w.yaml:1: '&x 1': anchors, tags, braces"},
                    RefusedYaml{"Alias", "a: *x", "w.yaml:1: '*x': anchors"},
                    RefusedYaml{"Tag", "a: !!int 1", "w.yaml:1: '!!int 1': anchors"},
                    RefusedYaml{"Braces", "a: {b: 1}", "w.yaml:1: '{b: 1}': anchors"},
                    RefusedYaml{"Block", "a: |\n  text", "w.yaml:1: '|': anchors"},
                    RefusedYaml{"Lines", "a: one\n  two: 2", "w.yaml:2: its indentation fits no line above"},
                    RefusedYaml{"Dedent", "a:\n    b: 1\n  c: 2", "w.yaml:3: its indentation fits no line above"},
                    RefusedYaml{"Less", "  a: 1\nb: 2", "w.yaml:2: its indentation fits no line above"},
                    RefusedYaml{"Documents", "a: 1\n---\nb: 1", "w.yaml:2: '---' is no 'key: value'"},
                    RefusedYaml{"End", "a: 1\n...\n", "w.yaml:2: '...' is no 'key: value'"},
                    RefusedYaml{"Directive", "%YAML 1.2\n", "w.yaml:1: '%YAML 1.2' is no 'key: value'"},
                    RefusedYaml{"Mixed", "a: 1\n- b", "w.yaml:2: '- b' is no 'key: value'"},
                    RefusedYaml{"List", "- b", "w.yaml:1: '- b' is no 'key: value'"},
                    RefusedYaml{"BehindAList", "a:\n  - b\n c: 1", "w.yaml:3: its indentation fits no line above"},
                    RefusedYaml{"TwoKeys", "a: b: c", "w.yaml:1: 'b: c': anchors"},
                    RefusedYaml{"Bracket", "a: [1, 2", "w.yaml:1: a list in brackets must end on its line"},
                    RefusedYaml{"NoComma", "a: ['1' 2]", "w.yaml:1: '1' 2: quotes must be around"},
                    RefusedYaml{"ListInBrackets", "a: [[1], 2]", "w.yaml:1: '[1]': anchors"},
                    RefusedYaml{"Behind", "a: '1' 2", "w.yaml:1: '1' 2: quotes must be around all of the value"},
                    RefusedYaml{"Quote", "a: 'b", "w.yaml:1: 'b: quotes must be around all of the value"},
                    RefusedYaml{"Escape", R"(a: "\x41")", "without escapes"}),
    [](const auto& one) { return one.param.name; });

TEST(Yaml, OfAHostileFileTakesLittleMemoryAndText) {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
  EXPECT_THAT(yaml_complaint(deep), HasSubstr("w.yaml:17: nested more than 16 deep"));
  EXPECT_THAT(yaml_complaint(std::string(1'000'000, 'x') + ": 1"), HasSubstr("a key has more than 100 bytes"));
  EXPECT_THAT(yaml_complaint(std::string(1'000'000, 'x')), AllOf(HasSubstr("..."), testing::SizeIs(Lt(300u))));
  std::string many;
  for (int i = 0; i < 20'001; ++i) many += std::to_string(i) + ":\n";
  EXPECT_THAT(yaml_complaint(many), HasSubstr("w.yaml:20001: more than 20000 keys"));
}

}  // namespace
}  // namespace chexbench::verbs
