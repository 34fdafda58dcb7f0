// Standard output, where only results go.
#pragma once

#include <string>

namespace chexbench::app {

// Writes and flushes. @throws OutputError where that fails: a full disk, a closed pipe
void print(const std::string& text);

}  // namespace chexbench::app
