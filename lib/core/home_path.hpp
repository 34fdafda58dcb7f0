// The home folder in paths, which shells fill in only at the beginning of a word.
#pragma once

#include <string>

namespace chexbench {

// Returns a path with the home folder (HOME) in place of a "~" before its first '/' or its end. A path that is there as
// it stands, such as a folder of that name, stays.
// @throws SpecError for "~NAME", and if there is no HOME; `what` begins the message, "--output" or "data.root"
std::string with_home(const std::string& path, const std::string& what);

}  // namespace chexbench
