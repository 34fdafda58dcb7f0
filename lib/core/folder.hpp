// What a folder holds, and where the home folder is.
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

// The home folder in paths, which shells fill in only at the beginning of a word.

// Returns a path with the home folder (HOME) in place of a "~" before its first '/' or its end. A path that is there as
// it stands, such as a folder of that name, stays.
// @throws SpecError for "~NAME", and if there is no HOME; `what` begins the message, "--output" or "data.root"
std::string with_home(const std::string& path, const std::string& what);

}  // namespace chexbench
