// Writing large files so that nobody ever sees half of one. (core/atomic_file.hpp does it for texts.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chexbench::data {

// Makes the folder and those above it. @throws OutputError with the path and the system's reason
void make_folder(const std::string& path);

// A file that takes its name when commit() succeeds; until then it has a temporary name beside it, which goes away with
// this object. Not thread-safe. @throws OutputError with the path and the system's reason from every function
class OutputFile {
 public:
  // What a crash of the machine may cost: a synced file is on storage before it takes its name.
  enum class Durability { renamed, synced };

  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit(Durability durability);
  std::uint64_t bytes_written() const { return written_; }

 private:
  [[noreturn]] void fail(const char* action) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

// Removes the temporary files of OutputFiles in `folder` whose names begin with `prefix` and whose process is gone: a
// killed one leaves them behind. A process counts as gone where this host has none of its number.
void remove_abandoned_files(const std::string& folder, std::string_view prefix);

}  // namespace chexbench::data
