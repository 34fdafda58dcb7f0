// Parses a web server's index page of a folder: nginx's autoindex, Apache's mod_autoindex, Python's http.server, and
// servers that link by full paths, like IIS.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/store.hpp"

namespace chexbench::storage {

// Returns the entries of the folder, one for each direct child that a link leads to; links that end in '/' are folders.
// Links may be relative, or begin with the page's own path or `url`, the address of the page without its last slash.
// Skips all other links. Reports no sizes, because each server writes them in its own way.
// @throws DataError if there are more than kMostEntries; the message does not name the page
std::vector<StoreEntry> parse_index_page(std::string_view html, std::string_view url);

// Decodes the entities with which HTML and XML escape their markup characters.

// Returns the text with each entity of < > " ' and &, by name or by number, replaced by its character. Other entities
// are unchanged. Takes linear time.
std::string without_entities(std::string_view text);

}  // namespace chexbench::storage
