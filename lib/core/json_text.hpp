// Strings as JSON has them, for rooms that write small files without a JSON library.
#pragma once

#include <string>
#include <string_view>

namespace chexbench {

// `text` in quotes; quotes, backslashes and control characters escaped, other bytes as they are.
std::string json_text(std::string_view text);

}  // namespace chexbench
