// Recognizes and makes UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chexbench {

// Returns how many bytes the character at the beginning of `text` has, 1 to 4, or 0 if none stands there: `text` is
// empty, ends in the middle of one, or holds what RFC 3629 forbids (overlong forms, surrogates, more than U+10FFFF).
std::size_t utf8_character_bytes(std::string_view text);

// Returns whether all of `text` is UTF-8; an empty text is.
bool is_utf8(std::string_view text);

// Returns `text` with U+FFFD for each byte that is no part of a character, as JSON and CSV must have it.
std::string as_utf8(std::string_view text);

}  // namespace chexbench
