// The C library's functions that fail, each in front of the real one.
#include <dirent.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "../kills/preloaded.hpp"
#include "fault.hpp"

namespace {

using faults::Class;
using faults::is_chosen;
using faults::must_fail;
using faults::sync_reason;
using preloaded::mode_of;
using preloaded::real;

const preloaded::Folder& folder() {
  static const preloaded::Folder named("FAULT_FOLDER");
  return named;
}

bool fails(const char* function, int reason) {
  if (!must_fail(function)) return false;
  errno = reason;
  return true;
}

bool fails_open(const char* function, const char* path) {
  const bool system = is_chosen(Class::system_open);
  if (!system && !is_chosen(Class::open)) return false;
  return folder().holds(preloaded::absolute(path)) != system && fails(function, EMFILE);
}

bool fails_on_file(Class kind, const char* function, int descriptor, int reason) {
  return is_chosen(kind) && !folder().path_of(descriptor).empty() && fails(function, reason);
}

// How many of these bytes are requested: about half of them if a transfer is cut short.
std::size_t cut(Class kind, const char* function, int descriptor, std::size_t count) {
  return count > 1 && fails_on_file(kind, function, descriptor, 0) ? count / 2 : count;
}

bool fails_on_name(const char* function, const char* path) {
  return is_chosen(Class::rename) && folder().holds(preloaded::absolute(path)) && fails(function, EIO);
}

// Files that were written to since they were synced: a failing close() cannot lose data of any others.
std::array<std::atomic<bool>, 4096> unsynced;

void mark(int descriptor, bool is_unsynced) {
  if (descriptor >= 0 && descriptor < static_cast<int>(unsynced.size())) unsynced[descriptor] = is_unsynced;
}

bool is_unsynced(int descriptor) {
  return descriptor >= 0 && descriptor < static_cast<int>(unsynced.size()) && unsynced[descriptor];
}

int synced(int descriptor, int result) {
  if (result == 0) mark(descriptor, false);
  return result;
}

template <class Read>
ssize_t read_or_fail(const char* function, int descriptor, std::size_t count, const Read& read) {
  if (fails_on_file(Class::read, function, descriptor, EIO)) return -1;
  return read(cut(Class::short_read, function, descriptor, count));
}

template <class Write>
ssize_t write_or_fail(const char* function, int descriptor, std::size_t count, const Write& write) {
  if (fails_on_file(Class::write, function, descriptor, ENOSPC)) return -1;
  mark(descriptor, true);
  return write(cut(Class::short_write, function, descriptor, count));
}

int open_or_fail(const char* path, int flags, mode_t mode) {
  static auto* const next = real<int(const char*, int, ...)>("open");
  return fails_open("open", path) ? -1 : next(path, flags, mode);
}

int open_at_or_fail(int directory, const char* path, int flags, mode_t mode) {
  static auto* const next = real<int(int, const char*, int, ...)>("openat");
  return fails_open("openat", path) ? -1 : next(directory, path, flags, mode);
}

}  // namespace

extern "C" {

#define FAULTS_MODE(flags)                       \
  std::va_list arguments;                        \
  va_start(arguments, flags);                    \
  const mode_t mode = mode_of(flags, arguments); \
  va_end(arguments)

int open(const char* path, int flags, ...) {
  FAULTS_MODE(flags);
  return open_or_fail(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  FAULTS_MODE(flags);
  return open_or_fail(path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  FAULTS_MODE(flags);
  return open_at_or_fail(directory, path, flags, mode);
}

int openat64(int directory, const char* path, int flags, ...) {
  FAULTS_MODE(flags);
  return open_at_or_fail(directory, path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  static auto* const next = real<FILE*(const char*, const char*)>("fopen");
  return fails_open("fopen", path) ? nullptr : next(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static auto* const next = real<FILE*(const char*, const char*)>("fopen64");
  return fails_open("fopen", path) ? nullptr : next(path, mode);
}

DIR* opendir(const char* path) {
  static auto* const next = real<DIR*(const char*)>("opendir");
  return fails_open("opendir", path) ? nullptr : next(path);
}

ssize_t read(int descriptor, void* bytes, size_t count) {
  static auto* const next = real<ssize_t(int, void*, size_t)>("read");
  return read_or_fail("read", descriptor, count, [&](size_t most) { return next(descriptor, bytes, most); });
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t at) {
  static auto* const next = real<ssize_t(int, void*, size_t, off_t)>("pread");
  return read_or_fail("pread", descriptor, count, [&](size_t most) { return next(descriptor, bytes, most, at); });
}

ssize_t pread64(int descriptor, void* bytes, size_t count, off64_t at) { return pread(descriptor, bytes, count, at); }

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const next = real<ssize_t(int, const void*, size_t)>("write");
  return write_or_fail("write", descriptor, count, [&](size_t most) { return next(descriptor, bytes, most); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t at) {
  static auto* const next = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return write_or_fail("pwrite", descriptor, count, [&](size_t most) { return next(descriptor, bytes, most, at); });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t at) {
  return pwrite(descriptor, bytes, count, at);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  static auto* const next = real<ssize_t(int, const iovec*, int)>("writev");
  if (fails_on_file(Class::write, "writev", descriptor, ENOSPC)) return -1;
  return next(descriptor, parts, static_cast<int>(cut(Class::short_write, "writev", descriptor, count)));
}

ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t count, unsigned flags) {
  static auto* const next = real<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)>("copy_file_range");
  return write_or_fail("copy_file_range", to, count,
                       [&](size_t most) { return next(from, from_at, to, to_at, most, flags); });
}

int ftruncate(int descriptor, off_t size) noexcept {
  static auto* const next = real<int(int, off_t)>("ftruncate");
  return fails_on_file(Class::write, "ftruncate", descriptor, ENOSPC) ? -1 : next(descriptor, size);
}

int posix_fallocate(int descriptor, off_t at, off_t bytes) {
  static auto* const next = real<int(int, off_t, off_t)>("posix_fallocate");
  return fails_on_file(Class::write, "posix_fallocate", descriptor, 0) ? ENOSPC : next(descriptor, at, bytes);
}

int fsync(int descriptor) {
  static auto* const next = real<int(int)>("fsync");
  return fails_on_file(Class::sync, "fsync", descriptor, sync_reason()) ? -1 : synced(descriptor, next(descriptor));
}

int fdatasync(int descriptor) {
  static auto* const next = real<int(int)>("fdatasync");
  return fails_on_file(Class::sync, "fdatasync", descriptor, sync_reason()) ? -1 : synced(descriptor, next(descriptor));
}

int syncfs(int descriptor) noexcept {
  static auto* const next = real<int(int)>("syncfs");
  return fails_on_file(Class::sync, "syncfs", descriptor, sync_reason()) ? -1 : next(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return fails_on_name("rename", to) ? -1 : next(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return fails_on_name("mkdir", path) ? -1 : next(path, mode);
}

// The descriptor is closed anyway, as on Linux.
int close(int descriptor) {
  static auto* const next = real<int(int)>("close");
  const bool fails = is_unsynced(descriptor) && fails_on_file(Class::close, "close", descriptor, EIO);
  mark(descriptor, false);
  if (!fails) return next(descriptor);
  next(descriptor);
  errno = EIO;
  return -1;
}

void* mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  static auto* const next = real<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (is_chosen(Class::mmap) && fails("mmap", ENOMEM)) return MAP_FAILED;
  return next(at, bytes, protection, flags, descriptor, offset);
}

void* mmap64(void* at, size_t bytes, int protection, int flags, int descriptor, off64_t offset) noexcept {
  return mmap(at, bytes, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
  static auto* const next = real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  if (is_chosen(Class::thread) && must_fail("pthread_create")) return EAGAIN;
  return next(thread, attributes, body, argument);
}

int connect(int descriptor, const sockaddr* address, socklen_t length) {
  static auto* const next = real<int(int, const sockaddr*, socklen_t)>("connect");
  if (is_chosen(Class::connect) && address->sa_family != AF_UNIX && fails("connect", ENETUNREACH)) return -1;
  return next(descriptor, address, length);
}

}  // extern "C"
