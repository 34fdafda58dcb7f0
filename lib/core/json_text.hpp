// JSON helpers for rooms without a JSON library: quoting strings, and a limit on nesting.
#pragma once

#include <cstddef>
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

}  // namespace chexbench
