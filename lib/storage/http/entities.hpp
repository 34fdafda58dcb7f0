// The characters that HTML and XML write as entities where they would be taken for markup.
#pragma once

#include <string>

namespace chexbench::storage {

// The text with < > " ' & in place of their entities, by name or by number.
std::string without_entities(std::string text);

}  // namespace chexbench::storage
