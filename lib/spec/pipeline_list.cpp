#include "spec/pipeline_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/errors.hpp"
#include "spec/document.hpp"
#include "spec/shipped.hpp"
#include "spec/values.hpp"

namespace chexbench::spec {
namespace {

constexpr std::size_t kMostOps = 100;  // ops call each other, so stack depth grows with their number

std::vector<std::string> parameter_names(const OpRule& rule) {
  std::vector<std::string> names;
  for (const ParameterRule& parameter : rule.parameters) names.push_back(parameter.name);
  return names;
}

const ParameterRule& find_parameter(const OpRule& rule, const std::string& name, const std::string& where) {
  const auto found = std::ranges::find(rule.parameters, name, &ParameterRule::name);
  if (found != rule.parameters.end()) return *found;
  throw SpecError(fmt::format("{}: op '{}' has no parameter '{}'{}", where, rule.op, shown(name),
                              suggestion(name, parameter_names(rule))));
}

OpSpec op_from(const Node& node, const std::string& where) {
  const Object* object = node.object();
  const Node* name = object != nullptr ? find_member(*object, "op") : nullptr;
  if (name == nullptr || name->text() == nullptr) {
    throw SpecError(
        fmt::format("{} must be an object with an \"op\", such as {{\"op\": \"shuffle\", \"buffer\": 500}}, "
                    "not {}",
                    where, name == nullptr ? describe(node) : "\"op\": " + describe(*name)));
  }
  const std::span<const std::string> names = op_names();
  if (std::ranges::find(names, *name->text()) == names.end()) {
    throw SpecError(
        fmt::format("{}: no op is called '{}'{}", where, shown(*name->text()), suggestion(*name->text(), names)));
  }
  OpSpec op = default_op(*name->text());
  const OpRule& rule = op_rule(op.op);
  for (const auto& [key, value] : *object) {
    if (key == "op") continue;
    const ParameterRule& parameter = find_parameter(rule, key, where);
    op.parameters[key] = to_parameter(check_value(value_rule(parameter), value, fmt::format("{}.{}", where, key)));
  }
  return op;
}

std::string name_of(const Object& object, const std::string& where, const std::string& default_name) {
  const std::string known[] = {"name", "ops"};
  for (const auto& [key, value] : object) {
    if (std::ranges::find(known, key) == std::end(known)) {
      throw SpecError(fmt::format("{} has no key '{}'{}", where, shown(key), suggestion(key, known)));
    }
  }
  const Node* name = find_member(object, "name");
  if (name == nullptr) return default_name;
  if (name->text() == nullptr || name->text()->empty()) {
    throw SpecError(fmt::format("{}.name must be text that is not empty, not {}", where, describe(*name)));
  }
  return *name->text();
}

}  // namespace

PipelineSpec pipeline_from(const Node& node, const std::string& where, const std::string& default_name) {
  PipelineSpec pipeline{default_name, {}};
  const List* ops = node.list();
  if (const Object* object = node.object()) {
    pipeline.name = name_of(*object, where, default_name);
    const Node* member = find_member(*object, "ops");
    ops = member != nullptr ? member->list() : nullptr;
  }
  if (ops == nullptr) {
    throw SpecError(
        fmt::format("{} must be a name, the path of a file, a list of ops, or {{\"name\": ..., "
                    "\"ops\": [...]}}, not {}",
                    where, describe(node)));
  }
  if (ops->size() > kMostOps) {
    throw SpecError(fmt::format("{} has {} ops, at most {} are accepted", where, ops->size(), kMostOps));
  }
  for (const Node& op : *ops) {
    pipeline.ops.push_back(op_from(op, fmt::format("{}[{}]", where, pipeline.ops.size())));
  }
  try {
    check_kinds(pipeline);
  } catch (const SpecError& error) {
    throw SpecError(fmt::format("{}: {}", where, error.what()));
  }
  return pipeline;
}

Node to_node(const PipelineSpec& pipeline) {
  List ops;
  for (const OpSpec& op : pipeline.ops) {
    Object object = {{"op", Node{op.op}}};
    for (const ParameterRule& rule : op_rule(op.op).parameters) {
      object.emplace_back(rule.name, to_node(op.parameters.at(rule.name)));
    }
    ops.push_back(Node{std::move(object)});
  }
  return Node{Object{{"name", Node{pipeline.name}}, {"ops", Node{std::move(ops)}}}};
}

OpKey parse_op_key(const std::string& key, const std::string& where) {
  const std::string prefix = "pipeline.";
  const std::size_t dot = key.rfind('.');
  OpKey result;
  if (dot < prefix.size()) {
    throw SpecError(fmt::format("{}: '{}' must name an op and its parameter, such as pipeline.map.parallel_calls",
                                where, shown(key)));
  }
  result.op = key.substr(prefix.size(), dot - prefix.size());
  result.parameter = key.substr(dot + 1);
  const std::size_t bracket = result.op.find('[');
  if (bracket != std::string::npos) {
    const std::string index = result.op.substr(bracket);
    const bool is_index = index.size() >= 3 && index.size() <= 5 && index.back() == ']' &&
                          std::all_of(index.begin() + 1, index.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_index) {
      throw SpecError(fmt::format("{}: '{}' must count the ops of one name from 0, such as pipeline.shuffle[1].buffer",
                                  where, shown(key)));
    }
    result.occurrence = std::stoi(index.substr(1));
    result.op.resize(bracket);
  }
  const std::span<const std::string> names = op_names();
  if (std::ranges::find(names, result.op) == names.end()) {
    throw SpecError(fmt::format("{}: '{}': no op is called '{}'{}", where, shown(key), shown(result.op),
                                suggestion(result.op, names)));
  }
  find_parameter(op_rule(result.op), result.parameter, where);
  return result;
}

const ParameterRule& parameter_rule(const OpKey& key) { return find_parameter(op_rule(key.op), key.parameter, key.op); }

namespace {

// Returns the index of the op that the key refers to, given its parts `parsed`; nothing if the pipeline has no such op.
// @throws SpecError if it has several and the key gives no index
std::optional<std::size_t> find_op(const PipelineSpec& pipeline, const std::string& key, const OpKey& parsed) {
  std::vector<std::size_t> matches;
  for (std::size_t i = 0; i < pipeline.ops.size(); ++i)
    if (pipeline.ops[i].op == parsed.op) matches.push_back(i);
  if (matches.size() > 1 && parsed.occurrence < 0) {
    throw SpecError(fmt::format("'{}': pipeline '{}' has {} ops '{}'; say which: pipeline.{}[0].{} is the first", key,
                                pipeline.name, matches.size(), parsed.op, parsed.op, parsed.parameter));
  }
  const auto occurrence = static_cast<std::size_t>(std::max(parsed.occurrence, 0));
  return occurrence < matches.size() ? std::optional(matches[occurrence]) : std::nullopt;
}

}  // namespace

std::optional<ParameterValue> value_of(const PipelineSpec& pipeline, const std::string& key) {
  const OpKey parsed = parse_op_key(key, "pipeline");
  const std::optional<std::size_t> index = find_op(pipeline, key, parsed);
  return index ? std::optional(pipeline.ops[*index].parameters.at(parsed.parameter)) : std::nullopt;
}

void set_parameter(PipelineSpec& pipeline, const std::string& key, const ParameterValue& value) {
  const OpKey parsed = parse_op_key(key, "pipeline");
  const std::optional<std::size_t> index = find_op(pipeline, key, parsed);
  if (!index) {
    std::vector<std::string> names;
    for (const OpSpec& op : pipeline.ops) names.push_back(op.op);
    const auto count = std::ranges::count(names, parsed.op);
    throw SpecError(fmt::format("'{}': pipeline '{}' has {} op '{}'; its ops are {}", key, pipeline.name,
                                count == 0 ? "no" : fmt::format("only {}", count), parsed.op, fmt::join(names, ", ")));
  }
  pipeline.ops[*index].parameters[parsed.parameter] = value;
}

std::span<const std::string> preset_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const EmbeddedFile& preset : embedded_pipelines()) result.emplace_back(preset.name);
    return result;
  }();
  return names;
}

PipelineSpec preset(const std::string& name) {
  for (const EmbeddedFile& candidate : embedded_pipelines()) {
    if (candidate.name == name) return parse_pipeline(std::string(candidate.text), name + ".json", name);
  }
  throw SpecError(fmt::format("no pipeline is called '{}'{}; for a file, give a path with a '/' or .json", shown(name),
                              suggestion(name, preset_names())));
}

PipelineSpec find_pipeline(const std::string& name_or_path) {
  const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  if (!is_path) return preset(name_or_path);
  const std::string stem = std::filesystem::path(name_or_path).stem().string();
  return parse_pipeline(read_text_file(name_or_path, "pipeline"), name_or_path, stem);
}

PipelineSpec parse_pipeline(const std::string& text, const std::string& source, const std::string& default_name) {
  return pipeline_from(parse_document(text, source), source + ": pipeline", default_name);
}

}  // namespace chexbench::spec
