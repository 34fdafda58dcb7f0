// Decides which names of a server's listing are used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/store.hpp"

namespace chexbench::storage {

// Returns true for the name of one file or folder: not empty, "." or "..", and without '/'. No other name may be put
// behind a folder, since it would lead out of it.
bool is_one_name(std::string_view name);

// Returns true if the name may be used in paths and messages: it has no control character (a NUL would end it, an
// escape sequence would reach the terminal) and at most kMostNameBytes bytes.
bool is_safe_name(std::string_view name);

// Removes the entries whose names are not safe. A warning says how many there were and shows the first one.
void keep_safe_names(const std::string& folder, std::vector<StoreEntry>& entries);

}  // namespace chexbench::storage
