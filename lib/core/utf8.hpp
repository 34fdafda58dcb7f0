// Recognizes UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace chexbench {

// Returns how many bytes the character at the beginning of `text` has, 1 to 4, or 0 if none stands there: `text` is
// empty, ends in the middle of one, or holds what RFC 3629 forbids (overlong forms, surrogates, more than U+10FFFF).
std::size_t utf8_character_bytes(std::string_view text);

// Returns whether all of `text` is UTF-8; an empty text is.
bool is_utf8(std::string_view text);

}  // namespace chexbench
