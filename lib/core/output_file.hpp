// Writes files so that a reader, a crash or a full disk never leaves half of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace chexbench {

// Makes the folder and those above it, and syncs the names of those that it made: files that are synced in a folder are
// lost with the folder's own name.
// @throws OutputError with the path and the system's reason
void make_folder(const std::string& path);

// Makes a folder that nobody else has, with those above it, and returns its path: `path`, or if that is there PATH-2,
// PATH-3 and so on. @throws OutputError as make_folder()
std::string make_new_folder(const std::string& path);

// Syncs an open file or folder. Whether that worked, or the file system has no such call (EINVAL, ENOTSUP, ENOSYS,
// EROFS): FUSE, network and special file systems may not, and pipes do not. Otherwise errno says what failed.
bool sync_descriptor(int descriptor);

// Syncs the folder that holds `path`: a file's name survives a crash of the machine only then. Does nothing where the
// file system cannot, or the folder may not be read.
// @throws OutputError with the path and the system's reason
void sync_folder_of(const std::string& path);

// Syncs the file system that holds `folder`, with all that was written to it.
// @throws OutputError with the path and the system's reason
void sync_file_system(const std::string& folder);

// What the system says of an error number, and for a full disk or quota how to mend it. Thread-safe.
std::string write_failure(int error_number);

// A file that takes its name when commit() succeeds. Until then it has the temporary name .NAME.tmp-PROCESS beside it,
// which goes away with this object. A device, a pipe or a descriptor such as /dev/stdout stays what it is: it is
// written to, not replaced. A link to a file is replaced, and that file stays as it was. Not thread-safe. @throws
// OutputError from every function, with the path and the system's reason
class OutputFile {
 public:
  // What a crash of the machine may cost: a synced file is on storage before it takes its name.
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

// Writes `text` to `path` as a whole, by a synced OutputFile: whatever was there stays as it was if anything fails.
// Folders are not created. @throws OutputError
void write_file_atomically(const std::string& path, std::string_view text);

// The same for a text that is never in memory as a whole: `fill` passes its pieces to the function that it gets.
using WritePiece = std::function<void(std::string_view)>;
void write_file_atomically(const std::string& path, const std::function<void(const WritePiece&)>& fill);

// Removes the temporary files of OutputFiles in `folder` whose target's name begins with `prefix` and whose process is
// gone: a killed process leaves them. A process counts as gone if this host has none of its number, or it has ended.
// @throws DataError if the folder is there and cannot be read
void remove_abandoned_files(const std::string& folder, std::string_view prefix = "");

}  // namespace chexbench
