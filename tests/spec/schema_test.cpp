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
