// Libraries that few runs need lie in modules, loaded when asked for: the program starts without them.
#pragma once

#include <string>

namespace chexbench {

// `symbol` of the module `file`, which lies beside the executable in a build tree, in ../lib/chexbench where installed.
// It stays loaded. `owner` begins the error. @throws DeviceError where there is no such file, or it is of another build
void* module_symbol(const std::string& owner, const char* file, const char* symbol);

}  // namespace chexbench
