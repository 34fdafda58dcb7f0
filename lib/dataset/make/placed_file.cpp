#include "dataset/make/placed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/errors.hpp"
#include "core/output_file.hpp"

namespace chexbench::dataset {
namespace {

[[noreturn]] void fail_at(const std::string& path, const std::string& action) {
  throw OutputError(fmt::format("cannot {} {}: {}", action, path, write_failure(errno)));
}

// The holder of the lock renames the file when it is complete. A process that opened it earlier and locks it later must
// not write to it, so it starts over.
int open_locked(const std::string& path) {
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0) fail_at(path, "open");
    bool is_locked = false;
    try {
      is_locked = lock_if_named(descriptor, path);
    } catch (const OutputError&) {
      ::close(descriptor);
      throw;
    }
    if (is_locked) return descriptor;
    ::close(descriptor);
  }
}

}  // namespace

bool lock_if_named(int descriptor, const std::string& path) {
  // On a file system without locks it is written unlocked, like every other file.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    fail_at(path, "lock (is another conversion writing it?)");
  struct stat locked {
  }, named{};
  return ::fstat(descriptor, &locked) == 0 && ::lstat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
         locked.st_ino == named.st_ino;
}

PlacedFile::PlacedFile(std::string path) : path_(std::move(path)), descriptor_(open_locked(path_)) {}

PlacedFile::~PlacedFile() { ::close(descriptor_); }

void PlacedFile::fail(const std::string& action) const { fail_at(path_, action); }

std::uint64_t PlacedFile::bytes() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void PlacedFile::begin(std::uint64_t bytes) {
  if (::ftruncate(descriptor_, 0) != 0) fail("empty");
  const int error = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    errno = error;
    fail(fmt::format("reserve {:.2f} GB for", 1e-9 * static_cast<double>(bytes)));
  }
}

void PlacedFile::write(std::uint64_t at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    at += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

bool PlacedFile::read(std::uint64_t at, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("read");
    if (done == 0) return false;
    at += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

void PlacedFile::commit(const std::string& name) {
  if (!sync_descriptor(descriptor_)) fail("write");
  if (std::rename(path_.c_str(), name.c_str()) != 0) fail("rename");
}

}  // namespace chexbench::dataset
