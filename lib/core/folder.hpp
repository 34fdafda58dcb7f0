// Lists and locks folders, and finds the home folder.
#pragma once

#include <string>
#include <vector>

namespace chexbench {

// The names in a folder, in no particular order; none if there is no such folder.
// @throws DataError with the path and the system's reason, if it exists but cannot be read
std::vector<std::string> list_folder(const std::string& path);

// Returns " (did you mean 'FOLDER/NAME'?)" for a missing path: the entry of the same folder with the nearest name; or
// "".
std::string nearest_path_suggestion(const std::string& missing);

// Returns a path with the home folder (HOME) in place of a "~" before its first '/' or its end. A path that exists
// literally, such as a folder of that name, is unchanged. Shells fill in "~" only at the beginning of a word.
// @throws SpecError for "~NAME", and if HOME is not set; `what` begins the message, "--output" or "data.root"
std::string with_home(const std::string& path, const std::string& what);

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
