#include "spec/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/json_text.hpp"
#include "core/printable.hpp"
#include "spec/document.hpp"
#include "spec/draft.hpp"
#include "spec/ops.hpp"
#include "spec/shipped.hpp"

namespace chexbench::spec {
namespace {

bool is_file(const std::string& path) {
  std::error_code error;  // invalid file names count as missing
  return std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error);
}

// @throws SpecError if there is no such name
SpecText built_in(const std::string& name) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_experiments()) {
    names.emplace_back(file.name);
    if (file.name == name) {
      return {.source = fmt::format("configs/experiments/{}.json", name), .text = std::string(file.text)};
    }
  }
  const std::string nearest = nearest_name(name, names).empty() ? nearest_path_suggestion(name) : "";
  throw SpecError(fmt::format("no experiment is called '{}'{}; for a file, give a path with a '/' or .json",
                              shown(name), nearest.empty() ? suggestion(name, names) : nearest));
}

// Returns the member of an object, null if there is none.
Node* member_of(Node* node, const std::string& key) {
  Object* const object = node == nullptr ? nullptr : std::get_if<Object>(&node->value);
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(*object, key, &Object::value_type::first);
  return found == object->end() ? nullptr : &found->second;
}

// Removes parameters that this program's ops do not have.
void leave_out_unknown_parameters(Node& document) {
  Node* const ops = member_of(member_of(&document, "pipeline"), "ops");
  if (ops == nullptr || ops->list() == nullptr) return;
  for (Node& node : std::get<List>(ops->value)) {
    const Node* const name = member_of(&node, "op");
    if (name == nullptr || name->text() == nullptr) continue;
    const OpRule& rule = rule_or_none(*name->text());
    if (rule.op.empty()) continue;  // rejected later, by name
    std::erase_if(std::get<Object>(node.value), [&](const Object::value_type& member) {
      return member.first != "op" &&
             std::ranges::find(rule.parameters, member.first, &ParameterRule::name) == rule.parameters.end();
    });
  }
}

}  // namespace

SpecText find_spec(const std::string& name_or_path) {
  std::string path = name_or_path;
  if (path.find('/') == std::string::npos && !path.ends_with(".json") && !is_file(path)) {
    path += ".json";
    if (!is_file(path)) return built_in(name_or_path);
  }
  return {.source = path, .text = read_text_file(path, "experiment")};
}

SweepSpec parse_spec(const std::string& text, const std::string& source, const std::vector<std::string>& overrides) {
  Draft draft;
  draft.read(parse_document(text, source), source);
  for (const std::string& override : overrides) draft.set(override);
  return draft.finish(true);
}

std::string text_override(const std::string& key, const std::string& text) {
  return key + '=' + (is_utf8(text) ? json_text(text) : text);
}

SweepSpec load_spec(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  const SpecText found = find_spec(name_or_path);
  return parse_spec(found.text, found.source, overrides);
}

TrialSpec parse_trial(const std::string& text, const std::string& source, UnknownKeys unknown) {
  Draft draft;
  Node document = parse_document(text, source);
  if (unknown == UnknownKeys::ignored) {
    draft.ignore_unknown_keys();
    leave_out_unknown_parameters(document);
  }
  draft.read(document, source);
  const std::vector<Trial> trials = expand(draft.finish(false));
  if (trials.size() != 1) throw SpecError(fmt::format("{}: one trial was expected, not {}", source, trials.size()));
  return trials.front().spec;
}

}  // namespace chexbench::spec
