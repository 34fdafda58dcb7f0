#include "core/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"

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

std::string nearest_path_suggestion(const std::string& missing) {
  fs::path path(missing);
  if (!path.has_filename()) path = path.parent_path();
  const fs::path folder = path.parent_path();
  std::vector<std::string> names;
  try {
    names = list_folder(folder.empty() ? "." : folder.string());
  } catch (const DataError&) {  // an unreadable folder has nothing to suggest
  }
  std::ranges::sort(names);
  const std::string nearest = nearest_name(path.filename().string(), names);
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", printable((folder / nearest).string()));
}

std::string with_home(const std::string& path, const std::string& what) {
  if (!path.starts_with('~')) return path;
  const std::string first = path.substr(0, path.find('/'));
  std::error_code error;  // a path that cannot be examined counts as absent
  if (std::filesystem::exists(first, error)) return path;
  const char* const home = std::getenv("HOME");
  if (first == "~" && home != nullptr && *home != '\0') return home + path.substr(first.size());
  throw SpecError(fmt::format("{}: '{}' {}: write the whole path, or ./{} for a file of that name", what,
                              printable(path),
                              first == "~" ? "needs the home folder, and HOME is not set"
                                           : "begins with another user's home folder, which only shells know",
                              printable(first)));
}

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr std::chrono::milliseconds kBetweenTries{100};
  if (descriptor_ < 0) return;
  for (bool is_told = false; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; is_told = true) {
    if (!is_told) log::info("another chexbench writes to {}: waiting until it ends", folder);
    try {
      throw_if_interrupted();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace chexbench
