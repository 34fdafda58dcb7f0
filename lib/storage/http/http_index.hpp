// The page that a web server makes of a folder: nginx's autoindex, Apache's mod_autoindex, Python's http.server.
#pragma once

#include <string_view>
#include <vector>

#include "storage/store.hpp"

namespace chexbench::storage {

// The names that the page's links lead to within the folder; names of folders end in '/' there. No sizes: each server
// writes them in a way of its own.
std::vector<StoreEntry> parse_index_page(std::string_view html);

}  // namespace chexbench::storage
