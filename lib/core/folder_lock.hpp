// Lets one process at a time write into a folder.
#pragma once

#include <string>

namespace chexbench {

// Keeps other processes of chexbench out of a folder for as long as it lives. The lock ends with the process and leaves
// no file, so a killed process blocks nobody. Does nothing on file systems without locks.
class FolderLock {
 public:
  // Waits until no other process holds the lock, and logs the wait.
  // @throws InterruptedError if a signal comes meanwhile
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace chexbench
