// Pipelines as data: an op list, and the table that says which ops exist, what they connect and what parameters
// they take. The parser checks a spec against the table, the builder (lib/pipeline) reads parameters through it, and
// configs/schema.json is held against it by a test.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace chexbench::spec {

// What flows between ops.
enum class ElementKind { none, file, record, example, batch };

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

// One stage of a pipeline, with every parameter present (defaults filled in).
struct OpSpec {
  std::string op;
  std::map<std::string, ParameterValue> parameters;

  bool boolean(const std::string& name) const { return std::get<bool>(parameters.at(name)); }
  std::int64_t integer(const std::string& name) const { return std::get<std::int64_t>(parameters.at(name)); }
  double number(const std::string& name) const { return std::get<double>(parameters.at(name)); }
  const std::string& text(const std::string& name) const { return std::get<std::string>(parameters.at(name)); }
  bool holds_text(const std::string& name) const { return std::holds_alternative<std::string>(parameters.at(name)); }

  friend bool operator==(const OpSpec&, const OpSpec&) = default;
};

struct PipelineSpec {
  std::string name;  // a preset's name, or that of a list of one's own
  std::vector<OpSpec> ops;

  friend bool operator==(const PipelineSpec&, const PipelineSpec&) = default;
};

// What a value in a spec is; each names the member of ParameterValue that holds it. A parameter whose rule has words
// besides a numeric type holds text where one of the words is given.
enum class ValueType { boolean, integer, number, text };

// A parameter of an op.
struct ParameterRule {
  std::string name;
  ValueType type = ValueType::integer;
  ParameterValue default_value;
  std::vector<std::string> words;  // text values that are allowed (also instead of a number, e.g. "auto"); empty: any
  double minimum = 0;              // of a number
  double maximum = std::numeric_limits<double>::max();
  std::string description;  // for the schema
};

struct OpRule {
  std::string op;
  ElementKind in = ElementKind::none;     // what it takes
  ElementKind out = ElementKind::none;    // what it gives
  bool same_kind = false;                 // takes anything, gives the same; in and out are then unused
  std::vector<ParameterRule> parameters;  // delay_s, which every op takes, is the last one
  std::string description;                // for the schema
};

// All ops, in the order of the design's table.
std::span<const OpRule> op_rules();

// The names of all ops.
std::span<const std::string> op_names();

// The rule of `op`. @throws SpecError naming the nearest op
const OpRule& op_rule(const std::string& op);

// `op` with every parameter at its default.
// @throws SpecError as op_rule()
OpSpec default_op(const std::string& op);

// Checks that the list begins with a source, that each op can follow the one before it, that it ends in batches, and
// that a shard comes at most once (a second one would drop elements for good).
// @throws SpecError naming the op's index, "pipeline[2]", what it takes and what it would get
void check_kinds(const PipelineSpec& pipeline);

std::string to_string(ElementKind kind);

}  // namespace chexbench::spec
