#include "spec/object_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"

namespace chexbench::spec {

ValueRule value_rule(ValueType type, double minimum, double maximum) {
  ValueRule rule;
  rule.type = type;
  rule.minimum = minimum;
  rule.maximum = maximum;
  return rule;
}

ObjectReader::ObjectReader(const Node& node, std::string path, const std::vector<std::string>& keys)
    : object_(node.object()), path_(std::move(path)) {
  if (object_ == nullptr) throw SpecError(fmt::format("{} must be an object, not {}", path_, describe(node)));
  for (const auto& [key, value] : *object_) {
    if (std::ranges::find(keys, key) == keys.end())
      throw SpecError(fmt::format("{} has no key '{}'{}", path_, shown(key), suggestion(key, keys)));
  }
}

const Node& ObjectReader::node(const std::string& key) const {
  const Node* const node = find_member(*object_, key);
  if (node == nullptr) throw SpecError(fmt::format("{}: the key '{}' is missing", path_, key));
  return *node;
}

Value ObjectReader::value(const std::string& key, const ValueRule& allowed) const {
  return check_value(allowed, node(key), fmt::format("{}.{}", path_, key));
}

std::string ObjectReader::text(const std::string& key) const {
  std::string text = std::get<std::string>(value(key, value_rule(ValueType::text)));
  if (text.empty()) throw SpecError(fmt::format("{}.{} must not be empty", path_, key));
  return text;
}

int ObjectReader::count(const std::string& key) const {
  return static_cast<int>(std::get<std::int64_t>(value(key, value_rule(ValueType::integer, 1, 1e6))));
}

}  // namespace chexbench::spec
