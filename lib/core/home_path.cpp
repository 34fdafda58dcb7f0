#include "core/home_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/errors.hpp"
#include "core/printable.hpp"

namespace chexbench {

std::string with_home(const std::string& path, const std::string& what) {
  if (!path.starts_with('~')) return path;
  const std::string first = path.substr(0, path.find('/'));
  std::error_code error;  // what cannot be looked at is not there
  if (std::filesystem::exists(first, error)) return path;
  const char* const home = std::getenv("HOME");
  if (first == "~" && home != nullptr && *home != '\0') return home + path.substr(first.size());
  throw SpecError(fmt::format("{}: '{}' {}: write the whole path, or ./{} for a file of that name", what,
                              printable(path),
                              first == "~" ? "needs the home folder, and HOME is not set"
                                           : "begins with another user's home folder, which only shells know",
                              printable(first)));
}

}  // namespace chexbench
