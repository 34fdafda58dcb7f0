// JSON without a JSON library: quoting strings, a limit on nesting, and the version in every file that is read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chexbench {

// Returns `text` as a JSON string, with the quotes around it. Quotes, backslashes and control characters (below 0x20)
// are escaped; all other bytes are copied, so `text` must be UTF-8.
std::string json_text(std::string_view text);

// The deepest nesting of objects and lists that a file of chexbench may need. Code that walks JSON recurses into each,
// so deeper files would exhaust the stack.
inline constexpr std::size_t kMaxJsonDepth = 64;

// Returns whether `json`, up to its first syntax error, is nested more than kMaxJsonDepth deep. Takes a constant amount
// of stack and memory.
bool is_nested_too_deep(std::string_view json);

// The key of the version in every file that chexbench writes and reads again. Adding a key does not raise the version,
// because readers ignore unknown keys; removing, renaming or redefining one does.
inline constexpr const char* kFormatVersionKey = "schema_version";
// Of the files without a separate version: run.json, manifests, records of staging, notes of checkpoints. Files without
// the key are version 1.
inline constexpr std::int64_t kFormatVersion = 1;

// Returns why a file of version `found` cannot be read by a reader of versions up to `known`, or "".
inline std::string refusal_of_version(std::int64_t found, std::int64_t known = kFormatVersion) {
  if (found <= known) return "";
  return "it was written by a newer chexbench: its " + std::string(kFormatVersionKey) + " is " + std::to_string(found) +
         ", and this chexbench reads " + std::to_string(known) + "; read it with the newer one, or update this one";
}

}  // namespace chexbench
