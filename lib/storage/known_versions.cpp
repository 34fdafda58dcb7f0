#include "storage/known_versions.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "storage/listed_names.hpp"

namespace chexbench::storage {
namespace {

constexpr std::size_t kMostTagBytes = 256;  // remembered of each; an ETag of S3 has up to 40

}  // namespace

void KnownVersions::expect(const std::string& path, ObjectVersion version) {
  const std::scoped_lock lock(mutex_);
  if (version.tag.size() > kMostTagBytes) version.tag.resize(kMostTagBytes);
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
  const std::string_view tag = std::string_view(version.tag).substr(0, kMostTagBytes);
  if (!known.tag.empty() && !tag.empty() && known.tag != tag) {
    throw changed(fmt::format("its version was {} and is {} now", shown(known.tag), shown(tag)));
  }
  if (version.bytes) known.bytes = version.bytes;
  if (!tag.empty()) known.tag = tag;
}

}  // namespace chexbench::storage
