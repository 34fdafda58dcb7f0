// Decodes the entities by which HTML and XML write the characters of their markup.
#pragma once

#include <string>

namespace chexbench::storage {

// Returns the text with each entity of < > " ' and &, by name or by number, replaced by its character. Other entities
// stay as they are.
std::string without_entities(std::string text);

}  // namespace chexbench::storage
