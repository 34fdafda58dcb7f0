// What distant files were when they were first seen: a run must not mix two versions of one.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace chexbench::storage {

// What an object was when it was first seen. Empty members are not known.
struct ObjectVersion {
  std::optional<std::uint64_t> bytes;
  std::string tag;  // an ETag, or else the time of its last change
};

// By path. Thread-safe.
class KnownVersions {
 public:
  // Remembers what a listing tells of an object.
  void expect(const std::string& path, ObjectVersion version);
  // Bytes, where they are known.
  std::optional<std::uint64_t> bytes(const std::string& path) const;
  // Remembers what was not known yet.
  // @throws DataError where the object is not the one that it was
  void check(const std::string& path, const ObjectVersion& version);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, ObjectVersion> known_;
};

}  // namespace chexbench::storage
