// What a folder holds.
#pragma once

#include <string>
#include <vector>

namespace chexbench {

// The names in a folder, in no order; none where there is no such folder.
// @throws DataError with the path and the system's reason, where it is there and cannot be read
std::vector<std::string> list_folder(const std::string& path);

}  // namespace chexbench
