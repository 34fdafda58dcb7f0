#include "core/folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "core/errors.hpp"

namespace chexbench {

namespace fs = std::filesystem;

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  const bool is_absent = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !is_absent) throw DataError(fmt::format("cannot read folder {}: {}", path, error.message()));
  return names;
}

}  // namespace chexbench
