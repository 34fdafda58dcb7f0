// Input pipelines as data: a list of ops, and the table of all ops with their inputs, outputs and parameters. The
// parser checks a spec against the table, lib/pipeline builds ops from the list, and a test compares
// configs/schema.json with the table.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace chexbench::spec {

// The kinds of elements that flow between ops: the name of a file, an encoded image, a decoded image, a batch.
enum class ElementKind { none, file, record, example, batch };

struct OpRule;

// The value of an op's parameter.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

// One stage of a pipeline, with all its parameters (defaults are filled in).
struct OpSpec {
  std::string op;                                    // a name of the table
  std::map<std::string, ParameterValue> parameters;  // by name

  // Each returns the parameter `name`, which must exist and be of that type; otherwise they throw std::out_of_range or
  // std::bad_variant_access, a bug in the caller.
  bool boolean(const std::string& name) const { return std::get<bool>(parameters.at(name)); }
  std::int64_t integer(const std::string& name) const { return std::get<std::int64_t>(parameters.at(name)); }
  // Returns `otherwise` if the parameter is a word, such as "auto".
  std::int64_t integer_or(const std::string& name, std::int64_t otherwise) const {
    return holds_text(name) ? otherwise : integer(name);
  }
  double number(const std::string& name) const { return std::get<double>(parameters.at(name)); }
  const std::string& text(const std::string& name) const { return std::get<std::string>(parameters.at(name)); }
  bool holds_text(const std::string& name) const { return std::holds_alternative<std::string>(parameters.at(name)); }
  // Returns the flag, or nothing if the op has no such parameter.
  std::optional<bool> flag(const std::string& name) const;
  // Returns the rule of the op, with its properties. @throws SpecError if there is no such op
  const OpRule& rule() const;

  friend bool operator==(const OpSpec&, const OpSpec&) = default;
};

// A pipeline: its ops from the source to the sink.
struct PipelineSpec {
  std::string name;  // the name of a preset, or of the user's own list
  std::vector<OpSpec> ops;

  friend bool operator==(const PipelineSpec&, const PipelineSpec&) = default;
};

// The type of a value in a spec, and so its alternative in ParameterValue. A numeric parameter that also allows words,
// such as "auto", is text when it is one of them.
enum class ValueType { boolean, integer, number, text };

// The rule of an op's parameter.
struct ParameterRule {
  std::string name;
  ValueType type = ValueType::integer;
  ParameterValue default_value;
  std::vector<std::string> words;  // allowed texts, also in place of a number ("auto"); empty: any text for type text
  bool tuned = false;              // "auto" is found by measuring at the start of a trial
  double minimum = 0;              // of a number, inclusive
  double maximum = std::numeric_limits<double>::max();  // of a number, inclusive
  std::string description;                              // for the schema
};

// The rule of an op: its input, output and properties. Code outside its own file relies on these alone.
struct OpRule {
  std::string op;
  ElementKind in = ElementKind::none;     // kind of its input; none: it is a source
  ElementKind out = ElementKind::none;    // kind of its output
  bool same_kind = false;                 // any kind, passed through; in and out are then unused
  std::vector<ParameterRule> parameters;  // the last one is delay_s, which every op has
  std::string description;                // for the schema

  bool shards = false;      // keeps only the elements of its rank
  bool shuffles = false;    // draws from a buffer of elements, whose size is the parameter "buffer"
  bool repeats = false;     // runs the ops before it once per epoch
  bool runs_ahead = false;  // of the ops after it, on its own thread; "buffer": number of elements kept ready
  bool caches = false;      // keeps the elements of the first epoch for later ones
  bool cuts = false;        // ends before the ops before it do
  // The parameter with the number of files read, or images decoded, at once. Empty: it reads one file at a time, or
  // decodes on every core.
  std::string at_once;

  bool reads() const { return in == ElementKind::file && out == ElementKind::record; }  // and does not decode
  bool batches() const { return out == ElementKind::batch; }
  bool decodes() const {
    return (in == ElementKind::file || in == ElementKind::record) && (out == ElementKind::example || batches());
  }
  // Returns the kind of its output for inputs of kind `taken`.
  ElementKind given(ElementKind taken) const { return same_kind ? taken : out; }
};

// Returns the rules of all ops, in the order in which the schema and messages list them. The first call creates the
// table, which stays valid until the program ends. Thread-safe.
std::span<const OpRule> op_rules();

// Returns the names of all ops, in the same order.
std::span<const std::string> op_names();

// Returns the rule of `op`.
// @throws SpecError if there is no such op; the message suggests the nearest one
const OpRule& op_rule(const std::string& op);

// Returns the rule of `op`, or one without properties if there is no such op, as for "ready" in counters.
const OpRule& rule_or_none(const std::string& op);

// Returns `op` with every parameter at its default.
// @throws SpecError if there is no such op
OpSpec default_op(const std::string& op);

// Checks that a pipeline begins with a source, that each op accepts the output of the previous one, that it ends in
// batches, that it has at most one shard (a second one would drop elements for good), and that no op with deterministic
// false comes before the shard (ranks would see different orders, and their shards would overlap).
// @throws SpecError if not; the message names the op's index, "pipeline[2]", and what is wrong
void check_kinds(const PipelineSpec& pipeline);

// Returns the op's parameter that is "auto" and found by measuring, or null.
const std::string* parameter_to_tune(const OpSpec& op);

// Returns whether a rank decodes images of other ranks, which a later shard drops.
bool decodes_before_shard(const PipelineSpec& pipeline);

// Returns the position of an op in the pipeline, for messages: "pipeline[2] of 'optimized'".
std::string place_of(const PipelineSpec& pipeline, std::size_t index);

// Returns the kind's name for messages: "file", "record", "example", "batch", or "nothing" for none.
std::string to_string(ElementKind kind);

}  // namespace chexbench::spec
