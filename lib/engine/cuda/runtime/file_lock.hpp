// A lock between processes, for shared files.
#pragma once

#include <string>

namespace chexbench::engine::cuda {

// Holds an exclusive lock during its lifetime: against other processes, and against other FileLocks of the same
// process. The constructor creates the file `path` if needed; it stays empty and is not deleted. On a file system
// without locks, every process gets the lock.
class FileLock {
 public:
  // Waits until the lock is free. @throws OutputError if `path` cannot be opened for writing
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace chexbench::engine::cuda
