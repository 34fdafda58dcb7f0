#include "spec/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "spec/document.hpp"
#include "spec/keys.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {
namespace {

const std::string kPath = std::string(CHEXBENCH_CONFIGS) + "/schema.json";

const Object& member(const Object& object, std::string_view key) {
  const Node* node = find_member(object, std::string(key));
  if (node == nullptr || node->object() == nullptr) throw std::out_of_range(std::string(key));
  return *node->object();
}

// Returns the node of a path such as "data.root" in the schema's properties.
const Object& property(const Object& schema, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return member(member(schema, "properties"), path);
  return property(member(member(schema, "properties"), path.substr(0, dot)), path.substr(dot + 1));
}

class SchemaTest : public testing::Test {
 protected:
  const Node document_ = parse_document(schema_text(), "schema.json");
  const Object& schema_ = *document_.object();
};

// CHEXBENCH_WRITE_SCHEMA=1 rewrites the file; use it after adding a key or an op.
TEST_F(SchemaTest, IsWhatTheFileHolds) {
  if (std::getenv("CHEXBENCH_WRITE_SCHEMA") != nullptr) std::ofstream(kPath) << schema_text();
  std::ifstream file(kPath);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, schema_text()) << "run this test with CHEXBENCH_WRITE_SCHEMA=1 and commit " << kPath;
}

TEST_F(SchemaTest, HasEveryKeyWithItsDefault) {
  for (const KeyRule& rule : key_rules()) {
    const Object& schema =
        rule.path == "ranks" ? member(member(schema_, "$defs"), "rank_count") : property(schema_, rule.path);
    const Node* standard = find_member(schema, "default");
    ASSERT_NE(standard, nullptr) << rule.path;
    EXPECT_EQ(to_text(*standard), to_text(to_node(rule.get(TrialSpec{})))) << rule.path;
  }
}

// Counts the keys under `properties`, whose paths begin with `prefix`, and checks that all of them are known.
std::size_t count_known_keys(const Object& properties, const std::string& prefix) {
  std::size_t keys = 0;
  for (const auto& [name, node] : properties) {
    if (prefix.empty() && (name == "$schema" || name == "pipeline" || name == "sweep")) continue;
    if (const Node* group = find_member(*node.object(), "properties")) {
      keys += count_known_keys(*group->object(), prefix + name + ".");
      continue;
    }
    EXPECT_NE(find_key(prefix + name), nullptr) << prefix << name;
    ++keys;
  }
  return keys;
}

TEST_F(SchemaTest, HasNoKeyThatTheParserDoesNotKnow) {
  EXPECT_EQ(count_known_keys(member(schema_, "properties"), ""), key_rules().size());
}

TEST_F(SchemaTest, HasEveryParameterOfEveryOp) {
  for (const OpRule& rule : op_rules()) {
    const Object& properties = member(member(member(schema_, "$defs"), rule.op), "properties");
    EXPECT_EQ(properties.size(), rule.parameters.size() + 1) << rule.op;
    for (const ParameterRule& parameter : rule.parameters) {
      const Node* standard = find_member(member(properties, parameter.name), "default");
      ASSERT_NE(standard, nullptr) << rule.op << '.' << parameter.name;
      EXPECT_EQ(to_text(*standard), to_text(to_node(parameter.default_value))) << rule.op << '.' << parameter.name;
    }
  }
}

TEST_F(SchemaTest, AllowsASweepOfEveryKeyButTheName) {
  const Object& keys = member(property(schema_, "sweep"), "properties");
  for (const KeyRule& rule : key_rules()) {
    EXPECT_EQ(find_member(keys, rule.path) != nullptr, rule.path != "experiment") << rule.path;
  }
  EXPECT_NE(find_member(keys, "pipeline"), nullptr);
}

TEST_F(SchemaTest, AllowsNamesAsATextAndAsAList) {
  const List& any = *find_member(property(schema_, "data.labels.columns"), "anyOf")->list();
  ASSERT_EQ(any.size(), 2u);
  EXPECT_EQ(*find_member(*any[0].object(), "type")->text(), "string");
  EXPECT_EQ(*find_member(*any[1].object(), "type")->text(), "array");
  ASSERT_EQ(find_member(property(schema_, "training.class_weights"), "anyOf")->list()->size(), 3u)
      << "a number is a list of one";
  for (const KeyRule& rule : key_rules()) {
    EXPECT_EQ(rule.values.names, rule.path == "data.labels.columns" || rule.path == "training.class_weights")
        << rule.path;
  }
}

TEST_F(SchemaTest, AllowsAliasesAsDeprecated) {
  const List& any = *find_member(property(schema_, "data.format"), "anyOf")->list();
  ASSERT_EQ(any.size(), 3u);
  EXPECT_EQ(find_member(*any[0].object(), "enum")->list()->size(), 5u);
  EXPECT_EQ(*find_member(*any[1].object(), "const")->text(), "png");
  EXPECT_EQ(to_text(*find_member(*any[1].object(), "deprecated")), "true");
  EXPECT_EQ(*find_member(*any[2].object(), "const")->text(), "synthetic");
}

TEST_F(SchemaTest, RefusesNullWhereAKeyIsSwept) {
  const Object& keys = member(property(schema_, "sweep"), "properties");
  const std::string refused = to_text(Node{Object{{"type", Node{"null"}}}});
  int optional = 0;
  for (const KeyRule& rule : key_rules()) {
    if (rule.path == "experiment") continue;
    const Node* const exception = find_member(member(member(keys, rule.path), "items"), "not");
    EXPECT_EQ(exception != nullptr && to_text(*exception) == refused, rule.values.optional) << rule.path;
    optional += rule.values.optional ? 1 : 0;
  }
  EXPECT_EQ(optional, 11);
}

TEST_F(SchemaTest, RefersOnlyToWhatItHas) {
  const std::string text = schema_text();
  const std::string marker = "\"$ref\": \"#/";
  std::size_t references = 0;
  for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
    std::string path = text.substr(at + marker.size(), text.find('"', at + marker.size()) - at - marker.size());
    const Object* object = &schema_;
    while (!path.empty()) {
      const std::size_t slash = path.find('/');
      ASSERT_NO_THROW(object = &member(*object, path.substr(0, slash))) << path;
      path = slash == std::string::npos ? "" : path.substr(slash + 1);
    }
    ++references;
  }
  EXPECT_GT(references, key_rules().size());
}

}  // namespace
}  // namespace chexbench::spec
