// Preloaded into processes, it records every change that they make below the folder WRITE_LOG_FOLDER, in the order of
// its effects, in the file WRITE_LOG: power_loss.py computes from it the disk's states after a loss of power at any
// moment.
// A record is a line of JSON; that of a write is followed by the bytes written. Changes through mapped memory or
// copy_file_range are not seen: power_loss.py compares the replayed log with the folder, which shows whether any were.
// If WRITE_LOG_STOP_AT is set, the process stops itself (SIGSTOP) after each rename to a path with this ending, so that
// it can be killed at that moment, no matter how fast the machine is.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "preloaded.hpp"

namespace {

using preloaded::absolute;
using preloaded::mode_of;
using preloaded::real;

const preloaded::Folder& folder() {
  static const preloaded::Folder named("WRITE_LOG_FOLDER");
  return named;
}

std::string number_of(const struct stat& status) { return std::to_string(status.st_ino); }

std::string number_of(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  return number_of(status);
}

bool exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

// During its lifetime, no other thread or process changes anything, so that the log has the order of the changes.
class Turn {
 public:
  Turn() : own_(mutex()) { flock(log(), LOCK_EX); }
  ~Turn() { flock(log(), LOCK_UN); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Keeps errno.
  static void record(const std::string& line, std::string_view bytes = {}) {
    static auto* const real_write = real<ssize_t(int, const void*, std::size_t)>("write");
    const int reason = errno;
    const std::string whole = line + "\n" + std::string(bytes);
    if (real_write(log(), whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) std::abort();
    errno = reason;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex shared;
    return shared;
  }
  static int log() {
    static auto* const real_open = real<int(const char*, int, ...)>("open");
    static const int descriptor = real_open(std::getenv("WRITE_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    return descriptor;
  }

  std::scoped_lock<std::mutex> own_;
};

int open_recorded(const char* path, int flags, mode_t mode) {
  static auto* const real_open = real<int(const char*, int, ...)>("open");
  const std::string target = absolute(path);
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || !folder().holds(target)) return real_open(path, flags, mode);
  const Turn turn;
  const bool is_new = !exists(target);
  const int descriptor = real_open(path, flags, mode);
  if (descriptor < 0) return descriptor;
  if (is_new) {
    Turn::record(R"({"op": "create", "file": )" + number_of(descriptor) + R"(, "path": ")" + target + "\"}");
  } else if ((flags & O_TRUNC) != 0) {
    Turn::record(R"({"op": "resize", "file": )" + number_of(descriptor) + R"(, "size": 0})");
  }
  return descriptor;
}

template <class Write>
ssize_t write_recorded(int descriptor, const char* bytes, off_t at, const Write& write) {
  if (folder().path_of(descriptor).empty()) return write();
  const Turn turn;
  const off_t place = at >= 0 ? at : lseek(descriptor, 0, SEEK_CUR);
  const ssize_t done = write();
  if (done > 0) {
    Turn::record(R"({"op": "write", "file": )" + number_of(descriptor) + R"(, "at": )" + std::to_string(place) +
                     R"(, "bytes": )" + std::to_string(done) + "}",
                 {bytes, static_cast<std::size_t>(done)});
  }
  return done;
}

void stop_at(std::string_view path) {
  static const char* const named = std::getenv("WRITE_LOG_STOP_AT");
  if (named != nullptr && path.ends_with(named)) raise(SIGSTOP);
}

// The functions that take one or two names and change folders.
template <class Change>
int change_recorded(const char* op, const char* path, const char* to, const Change& change) {
  const std::string first = absolute(path);
  if (!folder().holds(first)) return change();
  const Turn turn;
  const int result = change();
  const std::string second = to != nullptr ? R"(, "to": ")" + absolute(to) + "\"" : "";
  if (result == 0) Turn::record(std::string(R"({"op": ")") + op + R"(", "path": ")" + first + "\"" + second + "}");
  return result;
}

template <class Sync>
int sync_recorded(const char* op, int descriptor, const Sync& sync) {
  if (folder().path_of(descriptor).empty()) return sync();
  const Turn turn;
  const int result = sync();
  if (result == 0) {
    Turn::record(std::string(R"({"op": ")") + op + R"(", "file": )" + number_of(descriptor) + R"(, "path": ")" +
                 folder().path_of(descriptor) + "\"}");
  }
  return result;
}

template <class Resize>
int resize_recorded(int descriptor, off_t size, const Resize& resize) {
  if (folder().path_of(descriptor).empty()) return resize();
  const Turn turn;
  const int result = resize();
  if (result == 0) {
    Turn::record(R"({"op": "resize", "file": )" + number_of(descriptor) + R"(, "size": )" + std::to_string(size) + "}");
  }
  return result;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_recorded(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_recorded(path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const real_write = real<ssize_t(int, const void*, size_t)>("write");
  return write_recorded(descriptor, static_cast<const char*>(bytes), -1,
                        [&] { return real_write(descriptor, bytes, count); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t at) {
  static auto* const real_pwrite = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return write_recorded(descriptor, static_cast<const char*>(bytes), at,
                        [&] { return real_pwrite(descriptor, bytes, count, at); });
}

int ftruncate(int descriptor, off_t size) noexcept {
  static auto* const real_ftruncate = real<int(int, off_t)>("ftruncate");
  return resize_recorded(descriptor, size, [&] { return real_ftruncate(descriptor, size); });
}

int posix_fallocate(int descriptor, off_t at, off_t bytes) {
  static auto* const real_fallocate = real<int(int, off_t, off_t)>("posix_fallocate");
  return resize_recorded(descriptor, at + bytes, [&] { return real_fallocate(descriptor, at, bytes); });
}

int fsync(int descriptor) {
  static auto* const real_fsync = real<int(int)>("fsync");
  return sync_recorded("sync", descriptor, [&] { return real_fsync(descriptor); });
}

int fdatasync(int descriptor) {
  static auto* const real_fdatasync = real<int(int)>("fdatasync");
  return sync_recorded("sync", descriptor, [&] { return real_fdatasync(descriptor); });
}

int syncfs(int descriptor) noexcept {
  static auto* const real_syncfs = real<int(int)>("syncfs");
  return sync_recorded("sync_all", descriptor, [&] { return real_syncfs(descriptor); });
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real_rename = real<int(const char*, const char*)>("rename");
  const int result = change_recorded("rename", from, to, [&] { return real_rename(from, to); });
  if (result == 0) stop_at(to);  // not before the log is free again
  return result;
}

int unlink(const char* path) noexcept {
  static auto* const real_unlink = real<int(const char*)>("unlink");
  return change_recorded("remove", path, nullptr, [&] { return real_unlink(path); });
}

int remove(const char* path) noexcept {
  static auto* const real_remove = real<int(const char*)>("remove");
  return change_recorded("remove", path, nullptr, [&] { return real_remove(path); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real_mkdir = real<int(const char*, mode_t)>("mkdir");
  return change_recorded("mkdir", path, nullptr, [&] { return real_mkdir(path, mode); });
}

}  // extern "C"
