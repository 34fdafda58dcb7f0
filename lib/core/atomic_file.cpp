#include "core/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/errors.hpp"

namespace chexbench {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw OutputError(fmt::format("{}: cannot {}: {}", path, what, std::strerror(error)));
}

// Owns a file descriptor. sync_and_close() reports the errors that appear only then (quotas, network file systems).
class OutputFile {
 public:
  OutputFile(const std::string& path, int flags)
      : path_(path), descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail(path_, "write it", errno);
  }
  ~OutputFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_, "write it", errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void sync_and_close() {
    // Pipes and devices cannot be synced (EINVAL) and need not be.
    if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(path_, "write it", errno);
    if (close(std::exchange(descriptor_, -1)) != 0) fail(path_, "write it", errno);
  }

 private:
  const std::string path_;
  int descriptor_;
};

// A rename survives a crash only once its folder is on storage too. Some file systems cannot sync a folder, so errors
// are ignored.
void sync_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

// Returns whether `path` is a device, a pipe, a symbolic link or a folder: a rename would replace it with a plain file.
bool is_no_plain_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

// Returns whether the file's name is one of write_file_atomically()'s temporary names, NAME.PID.tmp.
bool is_temporary(const std::filesystem::path& path) {
  const std::string process = path.stem().extension().string();
  return path.extension() == ".tmp" && process.size() > 1 &&
         process.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view text) {
  write_file_atomically(path, [text](const WritePiece& write) { write(text); });
}

void write_file_atomically(const std::string& path, const std::function<void(const WritePiece&)>& fill) {
  if (is_no_plain_file(path)) {
    OutputFile file(path, O_WRONLY | O_TRUNC);
    fill([&file](std::string_view piece) { file.write(piece); });
    file.sync_and_close();
    return;
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  try {
    OutputFile file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    fill([&file](std::string_view piece) { file.write(piece); });
    file.sync_and_close();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path, "put it in place", errno);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  sync_folder_of(path);
}

void remove_abandoned_files(const std::string& folder) {
  std::error_code error;  // ignored: a file that cannot be removed only takes up space
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code stays;
    if (is_temporary(entry->path())) std::filesystem::remove(entry->path(), stays);
  }
}

}  // namespace chexbench
