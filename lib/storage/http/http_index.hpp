// Parses the page by which a web server lists a folder: nginx's autoindex, Apache's mod_autoindex, Python's
// http.server.
#pragma once

#include <string_view>
#include <vector>

#include "storage/store.hpp"

namespace chexbench::storage {

// Returns the entries of the folder, one for each link that leads to a direct child; links that end in '/' are folders.
// Skips all other links. Reports no sizes, because each server writes them in its own way.
// @throws DataError if there are more than kMostEntries; the message does not name the page
std::vector<StoreEntry> parse_index_page(std::string_view html);

}  // namespace chexbench::storage
