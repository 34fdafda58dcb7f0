#include "storage/untrusted.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/log.hpp"

namespace chexbench::storage {

bool is_one_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

bool is_safe_name(std::string_view name) { return name.size() <= kMostNameBytes && !has_control_character(name); }

bool ListedNames::take(std::string_view name) {
  if (!is_one_name(name)) return false;
  if (is_safe_name(name)) return true;
  if (unsafe_++ == 0) first_ = shown(name);
  return false;
}

void ListedNames::tell() const {
  if (unsafe_ == 0) return;
  log::warning("{}: {} of its names left out, because they hold control characters or over {} bytes; the first is '{}'",
               shown(folder_), unsafe_, kMostNameBytes, first_);
}

bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) return true;
  }
  return false;
}

std::string shown(std::string_view text, std::size_t most_bytes) {
  std::string result;
  for (const char c : text.substr(0, most_bytes)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      fmt::format_to(std::back_inserter(result), "\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > most_bytes ? result + "..." : result;
}

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
