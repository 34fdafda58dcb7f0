// What a folder holds.
#pragma once

#include <string>
#include <vector>

namespace chexbench {

// The names in a folder, in no order; none where there is no such folder.
// @throws DataError with the path and the system's reason, where it is there and cannot be read
std::vector<std::string> list_folder(const std::string& path);

// Returns " (did you mean 'FOLDER/NAME'?)" for the entry beside a path that is not there whose name is nearest to the
// path's, or "".
std::string nearest_path_suggestion(const std::string& missing);

}  // namespace chexbench
