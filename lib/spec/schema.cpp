#include "spec/parse.hpp"

#include <fmt/format.h>

#include <limits>

#include "spec/document.hpp"
#include "spec/keys.hpp"
#include "spec/ops.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::spec {
namespace {

Node text(std::string value) { return Node{std::move(value)}; }

Node reference(const std::string& path) { return Node{Object{{"$ref", text("#/" + path)}}}; }

Node number(double value) {
  const bool whole = value == static_cast<double>(static_cast<std::int64_t>(value));
  return whole ? Node{static_cast<std::int64_t>(value)} : Node{value};
}

Node words(const std::vector<std::string>& values) {
  List list;
  for (const std::string& value : values) list.push_back(text(value));
  return Node{std::move(list)};
}

const char* type_word(ValueType type) {
  switch (type) {
    case ValueType::boolean:
      return "boolean";
    case ValueType::integer:
      return "integer";
    case ValueType::number:
      return "number";
    case ValueType::text:
      return "string";
  }
  return "string";
}

// Returns the schema of an object that allows no other keys than `properties`.
Node closed_object(Object properties) {
  return Node{Object{
      {"type", text("object")}, {"additionalProperties", Node{false}}, {"properties", Node{std::move(properties)}}}};
}

Node list_of(Node items) {
  return Node{Object{{"type", text("array")}, {"minItems", Node{std::int64_t{1}}}, {"items", std::move(items)}}};
}

// Returns the schemas of a value's alternatives: the plain type with its range, a list of names, words, a prefix, null.
List alternatives(const ValueRule& rule) {
  List result;
  const bool only_words = rule.type == ValueType::text && !rule.words.empty();
  if (!only_words) {
    Object plain = {{"type", text(type_word(rule.type))}};
    const ValueRule unbounded;
    if (rule.minimum > unbounded.minimum) {
      plain.emplace_back(rule.above_minimum ? "exclusiveMinimum" : "minimum", number(rule.minimum));
    }
    if (rule.maximum < unbounded.maximum) plain.emplace_back("maximum", number(rule.maximum));
    if (rule.names) plain.emplace_back("pattern", text("[^,\\s]"));  // at least one name
    result.push_back(Node{std::move(plain)});
  }
  if (rule.names) {
    const Node name{Object{{"type", text("string")}, {"pattern", text("^[^,]*[^,\\s][^,]*$")}}};
    const Node plain_number{Object{{"type", text("number")}}};
    result.push_back(list_of(rule.numbers ? Node{Object{{"anyOf", Node{List{name, plain_number}}}}} : name));
    if (rule.numbers) result.push_back(plain_number);
  }
  if (!rule.words.empty()) result.push_back(Node{Object{{"enum", words(rule.words)}}});
  for (const auto& [alias, word] : rule.aliases) {
    result.push_back(Node{Object{
        {"const", text(alias)}, {"deprecated", Node{true}}, {"description", text("Deprecated alias of " + word)}}});
  }
  if (!rule.prefix.empty()) {
    result.push_back(Node{Object{{"type", text("string")}, {"pattern", text("^" + rule.prefix + ".+")}}});
  }
  if (rule.optional) result.push_back(Node{Object{{"type", text("null")}}});
  return result;
}

// Returns the schema of the values that `rule` allows, with a default and a description.
Node value_schema(const ValueRule& rule, Node default_value, const std::string& description) {
  List any = alternatives(rule);
  Object schema = {{"description", text(description)}, {"default", std::move(default_value)}};
  if (any.size() == 1) {
    for (const auto& [key, value] : *any.front().object()) schema.emplace_back(key, value);
  } else {
    schema.emplace_back("anyOf", Node{std::move(any)});
  }
  return Node{std::move(schema)};
}

Node key_schema(const KeyRule& rule) {
  std::string description = rule.description;
  if (rule.stated_where.test) description += fmt::format(" Only where {}.", rule.stated_where.in_words);
  if (rule.swept_where.test) description += fmt::format(" Can be swept where {}.", rule.swept_where.in_words);
  return value_schema(rule.values, to_node(rule.get(TrialSpec{})), description);
}

Node op_schema(const OpRule& rule) {
  Object properties = {{"op", Node{Object{{"const", text(rule.op)}}}}};
  for (const ParameterRule& parameter : rule.parameters) {
    properties.emplace_back(
        parameter.name, value_schema(value_rule(parameter), to_node(parameter.default_value), parameter.description));
  }
  Node schema = closed_object(std::move(properties));
  auto& object = std::get<Object>(schema.value);
  object.insert(object.begin(), {"description", text(rule.description)});
  object.emplace_back("required", words({"op"}));
  return schema;
}

Node op_definitions() {
  Object definitions;
  List any;
  for (const OpRule& rule : op_rules()) {
    definitions.emplace_back(rule.op, op_schema(rule));
    any.push_back(reference("$defs/" + rule.op));
  }
  definitions.emplace_back("ops", list_of(Node{Object{{"anyOf", Node{std::move(any)}}}}));
  return Node{std::move(definitions)};
}

Node pipeline_schema() {
  const std::vector<std::string> names(preset_names().begin(), preset_names().end());
  Node named = closed_object({{"name", Node{Object{{"type", text("string")}, {"minLength", Node{std::int64_t{1}}}}}},
                              {"ops", reference("$defs/ops")}});
  std::get<Object>(named.value).emplace_back("required", words({"ops"}));
  List any = {Node{Object{{"enum", words(names)}}},
              Node{Object{{"type", text("string")}, {"pattern", text("/|\\.json$")}}}, reference("$defs/ops"),
              std::move(named)};
  return Node{Object{{"description", text("The input pipeline: a name, the path of a file, or a list of ops.")},
                     {"default", text("optimized")},
                     {"anyOf", Node{std::move(any)}}}};
}

// Returns the JSON pointer to the schema of a key.
std::string pointer_to(const std::string& key) {
  if (key == "ranks") return "$defs/rank_count";
  std::string pointer = "properties/";
  for (const char c : key) c == '.' ? pointer += "/properties/" : pointer += c;
  return pointer;
}

// Returns the schema of a swept key's value. It excludes null, which only a stated key may have.
Node swept_value_schema(const KeyRule& rule) {
  Node schema = reference(pointer_to(rule.path));
  if (rule.values.optional) {
    std::get<Object>(schema.value).emplace_back("not", Node{Object{{"type", text("null")}}});
  }
  return schema;
}

// Returns the schema of settings that no trial may combine. It allows the keys and values of the axes.
Node exclusion_schema() {
  Object keys = {{"pipeline", reference("properties/pipeline")}};
  for (const KeyRule& rule : key_rules())
    if (rule.path != "experiment") keys.emplace_back(rule.path, swept_value_schema(rule));
  Node schema = closed_object(std::move(keys));
  std::get<Object>(schema.value)
      .emplace_back("patternProperties", Node{Object{{"^pipeline\\..+\\..+$", Node{Object{}}}}});
  std::get<Object>(schema.value).emplace_back("minProperties", Node{std::int64_t{1}});
  return schema;
}

Node sweep_schema() {
  Node excluded{Object{{"description", text("Settings that no trial has together.")},
                       {"type", text("array")},
                       {"items", exclusion_schema()}}};
  // An entry of a zip is itself a sweep, but cannot contain a zip.
  Object entry = {{"$ref", text("#/properties/sweep")},
                  {"minProperties", Node{std::int64_t{2}}},
                  {"properties", Node{Object{{"zip", Node{false}}, {"exclude", Node{false}}}}}};
  Node zip = list_of(Node{std::move(entry)});
  auto& zip_object = std::get<Object>(zip.value);
  zip_object.insert(zip_object.begin(), {"description", text("Keys that vary together, value by value.")});
  Object keys = {{"zip", std::move(zip)},
                 {"exclude", std::move(excluded)},
                 {"pipeline", list_of(reference("properties/pipeline"))}};
  for (const KeyRule& rule : key_rules()) {
    if (rule.path == "experiment") continue;
    keys.emplace_back(rule.path, list_of(swept_value_schema(rule)));
  }
  Object patterns;
  for (const OpRule& rule : op_rules()) {
    for (const ParameterRule& parameter : rule.parameters) {
      patterns.emplace_back(fmt::format("^pipeline\\.{}(\\[[0-9]+\\])?\\.{}$", rule.op, parameter.name),
                            list_of(reference(fmt::format("$defs/{}/properties/{}", rule.op, parameter.name))));
    }
  }
  Node schema = closed_object(std::move(keys));
  auto& object = std::get<Object>(schema.value);
  object.insert(object.begin(), {"description", text("Keys with several values; every combination is a trial.")});
  object.emplace_back("patternProperties", Node{std::move(patterns)});
  return schema;
}

// Returns the properties of the group `name` in `object`; adds the group if it is missing.
Object& group(Object& object, const std::string& name) {
  for (auto& [key, node] : object) {
    if (key == name) return std::get<Object>(std::get<Object>(node.value).back().second.value);
  }
  object.emplace_back(name, closed_object({}));
  return std::get<Object>(std::get<Object>(object.back().second.value).back().second.value);
}

Object properties() {
  Object result = {{"$schema", Node{Object{{"type", text("string")}}}}};
  for (const KeyRule& rule : key_rules()) {
    if (rule.path == "model.name") result.emplace_back("pipeline", pipeline_schema());
    if (rule.path == "ranks") {
      List any = {reference("$defs/rank_count"), list_of(reference("$defs/rank_count"))};
      result.emplace_back(rule.path, Node{Object{{"description", text(rule.description)},
                                                 {"default", to_node(rule.get(TrialSpec{}))},
                                                 {"anyOf", Node{std::move(any)}}}});
    } else {
      Object* place = &result;
      std::string name = rule.path;
      for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.')) {
        place = &group(*place, name.substr(0, dot));
        name.erase(0, dot + 1);
      }
      place->emplace_back(name, key_schema(rule));
    }
  }
  result.emplace_back("sweep", sweep_schema());
  return result;
}

}  // namespace

std::string schema_text() {
  Node definitions = op_definitions();
  std::get<Object>(definitions.value).emplace_back("rank_count", key_schema(*find_key("ranks")));
  const Node schema{Object{{"$schema", text("https://json-schema.org/draft/2020-12/schema")},
                           {"title", text("chexbench experiment")},
                           {"type", text("object")},
                           {"additionalProperties", Node{false}},
                           {"properties", Node{properties()}},
                           {"$defs", std::move(definitions)}}};
  return to_text(schema) + "\n";
}

}  // namespace chexbench::spec
