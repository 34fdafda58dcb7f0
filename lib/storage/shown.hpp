// Makes text of servers safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chexbench::storage {

// Returns true if the text has a control character, which a terminal may obey: those below 0x20, DEL, and U+0080 to
// U+009F in UTF-8.
bool has_control_character(std::string_view text);

// Returns the text with each byte that is no printable ASCII character as \xNN, and "..." in place of what exceeds
// `most_bytes`. The result is UTF-8 whatever the text is.
std::string shown(std::string_view text, std::size_t most_bytes = 200);

}  // namespace chexbench::storage
