// Writes files so that a reader, a crash or a full disk never leaves half of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace chexbench {

// Makes the folder and its parents, and syncs the names of the new ones: a synced file is lost if its folder's name is.
// @throws OutputError with the path and the system's reason
void make_folder(const std::string& path);

// Makes a new folder and its parents, and returns its path: `path`, or if that exists PATH-2, PATH-3 and so on. @throws
// OutputError as make_folder()
std::string make_new_folder(const std::string& path);

// Syncs an open file or folder. Returns true if that worked, or if there is no such call (EINVAL, ENOTSUP, ENOSYS,
// EROFS), as on some FUSE, network and special file systems, and for pipes. Otherwise errno says what failed.
bool sync_descriptor(int descriptor);

// Syncs the folder of `path`: only then does a file's name survive a crash of the machine. Does nothing if the file
// system cannot sync, or the folder is not readable.
// @throws OutputError with the path and the system's reason
void sync_folder_of(const std::string& path);

// Syncs the whole file system of `folder`.
// @throws OutputError with the path and the system's reason
void sync_file_system(const std::string& folder);

// The system's text for an error number and, for a full disk or quota, the remedy. Thread-safe.
std::string write_failure(int error_number);

// A file that takes its name when commit() succeeds. Until then it is .NAME.tmp-PROCESS in the same folder, which is
// removed with this object. A device, a pipe or a descriptor such as /dev/stdout is written to, not replaced. A link to
// a file is replaced, and that file is unchanged, because someone else may have prepared the folder. Not thread-safe.
// @throws OutputError from every function, with the path and the system's reason
class OutputFile {
 public:
  // Whether the file survives a crash of the machine: a synced file is on storage before it takes its name.
  enum class Durability { renamed, synced };

  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit(Durability durability);
  std::uint64_t bytes_written() const { return written_; }

 private:
  [[noreturn]] void fail(const char* action) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

// Writes `text` to `path` as a whole, through a synced OutputFile: an existing file is unchanged if anything fails.
// Folders are not created. @throws OutputError
void write_file_atomically(const std::string& path, std::string_view text);

// The same for a text that is made in pieces: `fill` passes each piece to its argument.
using WritePiece = std::function<void(std::string_view)>;
void write_file_atomically(const std::string& path, const std::function<void(const WritePiece&)>& fill);

// Removes the temporary files of OutputFiles in `folder` whose target's name begins with `prefix` and whose process is
// gone: killed processes leave them behind. A process is gone if this host has none with that number, or it has ended.
// @throws DataError if the folder exists but cannot be read
void remove_abandoned_files(const std::string& folder, std::string_view prefix = "");

}  // namespace chexbench
