// Lets one process at a time write into a folder.
#pragma once

#include <string>

namespace chexbench {

// Keeps other processes of chexbench out of a folder for as long as it lives. The lock ends with the process, and
// leaves no file, so that a killed process keeps nobody out. Where the file system has no locks, it does nothing.
class FolderLock {
 public:
  // Waits until no other process has the folder, and logs that it does.
  // @throws InterruptedError if a signal comes meanwhile
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace chexbench
