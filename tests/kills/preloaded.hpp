// Shared by preloaded libraries: the function that they wrap, and whether a file is below a folder.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <string_view>

namespace preloaded {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

inline std::string absolute(const char* path) {
  if (path[0] == '/') return path;
  std::array<char, PATH_MAX> here{};
  return std::string(getcwd(here.data(), here.size()) != nullptr ? here.data() : "") + "/" + path;
}

// The folder that an environment variable names. Without that variable it is empty.
class Folder {
 public:
  explicit Folder(const char* variable) {
    if (const char* const named = std::getenv(variable)) prefix_ = std::string(named) + "/";
  }

  bool holds(std::string_view path) const { return !prefix_.empty() && (std::string(path) + "/").starts_with(prefix_); }

  // The path of an open file or folder; empty if it is not below the folder.
  std::string path_of(int descriptor) const {
    std::array<char, PATH_MAX> target{};
    const ssize_t count =
        readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), target.data(), target.size() - 1);
    const std::string path(target.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    return holds(path) ? path : "";
  }

 private:
  std::string prefix_;
};

// The third argument of open(), which is there if a file may be created.
inline mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace preloaded
