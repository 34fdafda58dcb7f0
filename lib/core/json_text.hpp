// Quotes strings for JSON, for folders that write small JSON files without a JSON library.
#pragma once

#include <string>
#include <string_view>

namespace chexbench {

// Returns `text` as a JSON string, with the quotes around it. Quotes, backslashes and control characters (below 0x20)
// are escaped; all other bytes are copied, so `text` must be UTF-8.
std::string json_text(std::string_view text);

}  // namespace chexbench
