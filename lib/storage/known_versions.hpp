// Remembers the size and version of each distant file, so that a run does not mix two versions of one file.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace chexbench::storage {

// The version of an object; empty members are unknown.
struct ObjectVersion {
  std::optional<std::uint64_t> bytes;
  std::string tag;  // its ETag, or else the time of its last change; compared as text
};

// The versions of the objects of one store, by path. Thread-safe.
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
