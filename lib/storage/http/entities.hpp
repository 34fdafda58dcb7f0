// Decodes the entities by which HTML and XML write the characters of their markup.
#pragma once

#include <string>
#include <string_view>

namespace chexbench::storage {

// Returns the text with each entity of < > " ' and &, by name or by number, replaced by its character. Other entities
// stay as they are. Takes time in proportion to the text.
std::string without_entities(std::string_view text);

}  // namespace chexbench::storage
