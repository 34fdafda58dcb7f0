#include "storage/known_versions.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"

namespace chexbench::storage {

void KnownVersions::expect(const std::string& path, ObjectVersion version) {
  const std::scoped_lock lock(mutex_);
  known_.insert_or_assign(path, std::move(version));
}

std::optional<std::uint64_t> KnownVersions::bytes(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(path);
  return found == known_.end() ? std::nullopt : found->second.bytes;
}

void KnownVersions::check(const std::string& path, const ObjectVersion& version) {
  const std::scoped_lock lock(mutex_);
  ObjectVersion& known = known_[path];
  const auto changed = [&](const std::string& what) {
    return DataError(
        fmt::format("cannot read {}: it changed under the run: {}; run again when nobody writes there", path, what));
  };
  if (known.bytes && version.bytes && *known.bytes != *version.bytes) {
    throw changed(fmt::format("it had {} bytes and has {} now", *known.bytes, *version.bytes));
  }
  if (!known.tag.empty() && !version.tag.empty() && known.tag != version.tag) {
    throw changed(fmt::format("its version was {} and is {} now", known.tag, version.tag));
  }
  if (version.bytes) known.bytes = version.bytes;
  if (!version.tag.empty()) known.tag = version.tag;
}

}  // namespace chexbench::storage
