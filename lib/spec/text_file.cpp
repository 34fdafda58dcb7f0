#include "spec/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "spec/document.hpp"

namespace chexbench::spec {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMost = 16 << 20;

// Reads some bytes of an open file into `to` and returns their number: 0 at the end, negative after an error.
ssize_t read_some(int file, std::span<char> to) {
  ssize_t got = 0;
  do got = ::read(file, to.data(), to.size());
  while (got < 0 && errno == EINTR);
  return got;
}

// Appends the file to `text` and returns the system's error, or 0. It stops once the text is too large, because a
// device may have no end.
int read_all(int file, std::string& text) {
  std::array<char, 65536> buffer;
  while (text.size() <= kMost) {
    const ssize_t got = read_some(file, buffer);
    if (got < 0) return errno;
    if (got == 0) return 0;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return 0;
}

// Opens a file so that open() does not wait for a FIFO's writer but reads do wait, since the text of a pipe may come
// late.
int open_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) ::fcntl(file, F_SETFL, 0);
  return file;
}

// Returns the names of a folder's *.json files without that ending, sorted; those that could be read if an error ends
// the list.
std::vector<std::string> json_files_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".json") names.push_back(entry->path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// Returns " (did you mean 'FOLDER/NAME.json'?)" for the nearest file beside a path that does not exist, or "".
std::string file_suggestion(const fs::path& missing) {
  const fs::path folder = missing.parent_path();
  const std::string wanted = (missing.extension() == ".json" ? missing.stem() : missing.filename()).string();
  const std::string nearest = nearest_name(wanted, json_files_in(folder.empty() ? "." : folder));
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", shown((folder / (nearest + ".json")).string()));
}

}  // namespace

std::string read_text_file(const std::string& path, const std::string& what) {
  const auto failure = [&](const std::string& reason) {
    return SpecError(fmt::format("cannot read the {} '{}': {}", what, shown(path), reason));
  };
  const int file = open_text(path);
  if (file < 0) {
    const int reason = errno;
    throw failure(std::strerror(reason) + (reason == ENOENT ? file_suggestion(path) : ""));
  }
  std::string text;
  const int error = read_all(file, text);
  ::close(file);
  if (error == EISDIR) throw failure("it is a folder");
  if (error != 0) throw failure(std::strerror(error));
  if (text.size() > kMost) throw failure("it is larger than 16 MB");
  return text;
}

}  // namespace chexbench::spec
