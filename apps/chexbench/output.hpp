// Standard output, where only results go.
#pragma once

#include <string>

namespace chexbench::app {

// Gives each standard stream that this process was started without to /dev/null. Otherwise the next file to be opened
// would take its number, and the log would go into a result.
void fill_standard_streams();

// Writes and flushes. @throws OutputError where that fails: a full disk, a closed pipe
void print(const std::string& text);

}  // namespace chexbench::app
