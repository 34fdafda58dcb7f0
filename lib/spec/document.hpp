// JSON text as a tree. It hides the slow-compiling JSON library from the parser of specs. (The readers of safetensors
// headers and of golden files use the library directly.)
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
using Object = std::vector<std::pair<std::string, Node>>;  // members in the order of the text, without duplicate keys

// A JSON value. Integers are int64; those beyond its range and all other numbers are doubles.
struct Node {
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Object> value = nullptr;

  // text(), list() and object() return null if the node is of another kind.
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const List* list() const { return std::get_if<List>(&value); }
  const Object* object() const { return std::get_if<Object>(&value); }
};

// Parses JSON, in which // and /* */ comments are allowed. `source` names the text in errors. Thread-safe.
// @throws SpecError if the syntax is wrong (with line and column), if an object contains a key twice (with its path),
// if the text is nested more than 64 deep, or if an object has more than 1000 keys
Node parse_document(const std::string& text, const std::string& source);

// Parses `text` into `*node` and returns true; returns false if the syntax is wrong.
// @throws SpecError if the syntax is right but the text breaks another rule of parse_document()
bool try_parse_document(const std::string& text, const std::string& source, Node* node);

// Returns the tree as JSON, indented by two spaces, without a newline at the end. Each element of a list takes one
// line; a list of scalars takes one line in all.
std::string to_text(const Node& node);

// Returns the member `key` of an object, or null if there is none. The pointer is valid as long as the object is
// unchanged.
const Node* find_member(const Object& object, const std::string& key);

// Returns a name or text from outside, formatted for messages: printable(), and cut to 100 bytes and "..." at the end
// of a UTF-8 character.
std::string shown(std::string_view text);

// Describes the value of a node for error messages: "the text \"abc\"", "3.5", "a list", "an object".
std::string describe(const Node& node);

// Reads whole text files: experiments, pipelines, profiles, golden files.

// Returns the text of the file at `path`. `what` is its role in errors, e.g. "experiment". A pipe is read to its end; a
// FIFO that no process writes to is empty.
// @throws SpecError if the file cannot be read (with the nearest one of its folder) or is larger than 16 MiB
std::string read_text_file(const std::string& path, const std::string& what);

}  // namespace chexbench::spec
