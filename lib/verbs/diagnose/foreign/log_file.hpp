// The bytes of a log file: a file, which may be compressed by GZIP, or a pipe, which may not.
#pragma once

#include <string>

#include "verbs/diagnose/foreign/byte_reader.hpp"

namespace chexbench::verbs::foreign {

// Returns what gives the bytes of the file, inflated if it begins as a GZIP file does. A pipe is given as it is.
// @throws DataError, here and when it is called, if the file cannot be read or is damaged
Fill fill_from_file(const std::string& path);

}  // namespace chexbench::verbs::foreign
