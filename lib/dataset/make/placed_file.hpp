// Writes a file at given offsets, from several threads, while no other process does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace chexbench::dataset {

// Takes the lock of the open file that `path` named a moment ago. Returns false if another process held it and renamed
// or removed the file meanwhile: then the locked file is not the one at `path`, but perhaps a finished one.
// @throws OutputError if another process holds the lock, or the system refuses it
bool lock_if_named(int descriptor, const std::string& path);

// A locked file. write() and read() are thread-safe; begin() and commit() are not.
class PlacedFile {
 public:
  // Opens the file at `path`, or creates an empty one. Its contents stay until begin().
  // @throws OutputError if it cannot be opened, or another process holds its lock
  explicit PlacedFile(std::string path);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  // Returns the size of the file, or 0 if it is unknown.
  std::uint64_t bytes() const;
  // Empties the file and reserves its whole size. @throws OutputError, if there is no room, for example
  void begin(std::uint64_t bytes);
  // @throws OutputError
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  // Returns false if the file ends before all bytes are read. @throws OutputError if it cannot be read
  bool read(std::uint64_t at, std::span<std::byte> bytes) const;
  // Syncs the file and renames it. @throws OutputError
  void commit(const std::string& name);

 private:
  [[noreturn]] void fail(const std::string& action) const;

  const std::string path_;
  const int descriptor_;
};

}  // namespace chexbench::dataset
