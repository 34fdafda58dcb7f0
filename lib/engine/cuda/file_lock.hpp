// A lock between processes.
#pragma once

#include <string>

namespace chexbench::engine::cuda {

// Held while it lives, by one process (or one FileLock of a process) at a time; `path` is made, and stays, empty. Where
// the file system knows no locks it is held by all.
class FileLock {
 public:
  // Waits for the lock. @throws OutputError where `path` cannot be made
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace chexbench::engine::cuda
