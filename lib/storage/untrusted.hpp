// Servers may be broken or hostile: limits on what they send, which names of their listings are used, how messages show
// their texts, and whether a file changed. The limits are far above those of real data sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace chexbench::storage {

// Bytes of a file that is read whole (an image or a table), and of one record of a shard. Equals 64 million pixels of
// 16 bits in four colors.
inline constexpr std::uint64_t kMostObjectBytes = std::uint64_t{512} << 20;
// The same, if the server does not announce the size.
inline constexpr std::uint64_t kMostUnannouncedBytes = std::uint64_t{64} << 20;
// Bytes of an index page (600,000 files as nginx writes them), and of a page of an S3 listing (1000 keys of at most
// 1024 bytes, each of which may be written as up to six).
inline constexpr std::uint64_t kMostIndexPageBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostS3PageBytes = std::uint64_t{16} << 20;
// Entries of one folder.
inline constexpr std::size_t kMostEntries = 2'000'000;
// Bytes of the name of an entry: the limit of a whole S3 key.
inline constexpr std::size_t kMostNameBytes = 1024;

// Returns true for the name of one file or folder: not empty, "." or "..", and without '/'. No other name may be
// appended to a folder, because it would lead out of it.
bool is_one_name(std::string_view name);

// Returns true if the name may be used in paths and messages: it has no control character (a NUL would end it, an
// escape sequence would reach the terminal) and at most kMostNameBytes bytes.
bool is_safe_name(std::string_view name);

// Chooses the names of one listing and counts those that it leaves out, without keeping them: a server may send
// gigabytes of them. Not thread-safe.
class ListedNames {
 public:
  // `folder` is the one that is listed, and must outlive this object.
  explicit ListedNames(const std::string& folder) : folder_(folder) {}

  // Returns whether the name is used. One that is not a name is skipped silently, because honest servers list such
  // entries (the folder itself, its parent); an unsafe one is counted.
  bool take(std::string_view name);
  // Warns of the names that were counted, if there are any, and shows the first.
  void tell() const;

 private:
  const std::string& folder_;
  std::size_t unsafe_ = 0;
  std::string first_;
};

// Returns true if the text has a control character, which a terminal may obey: those below 0x20, DEL, and U+0080 to
// U+009F in UTF-8.
bool has_control_character(std::string_view text);

// Returns the text with each byte that is not printable ASCII as \xNN, and "..." in place of anything beyond
// `most_bytes`. The result is always UTF-8.
std::string shown(std::string_view text, std::size_t most_bytes = 200);

// The version of an object; empty members are unknown.
struct ObjectVersion {
  std::optional<std::uint64_t> bytes;
  std::string tag;  // its ETag, or else the time of its last change; compared as text
};

// The versions of the objects of one store, by path, so that a run does not mix two versions of one file. Thread-safe.
class KnownVersions {
 public:
  // Sets the version of an object from a listing, replacing any earlier one.
  void expect(const std::string& path, ObjectVersion version);
  // Returns the bytes of the object, or std::nullopt if they are not known.
  std::optional<std::uint64_t> bytes(const std::string& path) const;
  // Compares `version` with the known one, and remembers the parts that were unknown.
  // @throws DataError if the size or the tag differs from the known one
  void check(const std::string& path, const ObjectVersion& version);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, ObjectVersion> known_;
};

}  // namespace chexbench::storage
