// JSON text as a tree: the only place of this room that knows the JSON library, which is slow to compile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace chexbench::spec {

struct Node;
using List = std::vector<Node>;
using Object = std::vector<std::pair<std::string, Node>>;  // in the order of the text, without duplicate keys

// A JSON value. Integers beyond the range of int64 are numbers.
struct Node {
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Object> value = nullptr;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const List* list() const { return std::get_if<List>(&value); }
  const Object* object() const { return std::get_if<Object>(&value); }
};

// Parses JSON with // and /* */ comments. `source` names the text in errors.
// @throws SpecError with line and column for wrong syntax, with the path for a key that stands twice in an object
Node parse_document(const std::string& text, const std::string& source);

// Whether `text` is JSON by itself; if so, `*node` is set. @throws SpecError for duplicate keys
bool try_parse_document(const std::string& text, const std::string& source, Node* node);

// The tree as JSON, indented by two spaces, no newline at the end. An element of a list takes one line; a list of
// scalars takes one in all.
std::string to_text(const Node& node);

// The member `key` of an object, or null.
const Node* find_member(const Object& object, const std::string& key);

// A name or text from outside as messages show it: its first 100 bytes.
std::string shown(std::string_view text);

// What stands there, for error messages: "text \"abc\"", "3.5", "a list".
std::string describe(const Node& node);

}  // namespace chexbench::spec
