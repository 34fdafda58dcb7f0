#include "storage/nfs/nfs_store.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "storage/file_bytes.hpp"
#include "storage/range_stream.hpp"
#include "storage/retry.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {
namespace {

// The connections of one rank at once, equal to the requests that stores over HTTP have in flight: a server answers the
// requests of one connection one after the other.
constexpr std::size_t kConnectionsAtOnce = 16;

ObjectVersion version_of(const NfsAttributes& attributes) {
  constexpr std::uint64_t kYear10000S = 253'402'300'800;  // a time that a server made up need not fit a calendar
  if (attributes.changed_s >= kYear10000S) {
    return {attributes.bytes, fmt::format("{}.{:09} s", attributes.changed_s, attributes.changed_ns)};
  }
  return {attributes.bytes, fmt::format("{:%FT%T}.{:09}Z", fmt::gmtime(static_cast<std::time_t>(attributes.changed_s)),
                                        attributes.changed_ns)};
}

NfsPlace place_of(const Url& root, const RetryPolicy& policy) {
  NfsPlace place{.host = root.authority, .folder = root.path, .limits = policy};
  const std::size_t colon = root.authority.rfind(':');
  if (colon != std::string::npos) {
    place.host = root.authority.substr(0, colon);
    place.port = parse_number<int>(std::string_view(root.authority).substr(colon + 1)).value_or(0);
    if (place.port < 1 || place.port > 65535) {
      throw DataError(fmt::format("data.root 'nfs://{}': there is no port after the ':'", root.authority));
    }
  }
  if (root.path.empty()) {
    throw DataError(fmt::format("data.root 'nfs://{}' names no export: give nfs://host/export/folder", root.authority));
  }
  return place;
}

class NfsStore final : public Store {
 public:
  NfsStore(const Url& root, NfsConnect connect, const RetryPolicy& policy)
      : root_(fmt::format("nfs://{}{}", root.authority, root.path)),
        place_(place_of(root, policy)),
        policy_(policy),
        connect_(std::move(connect)),
        notes_(root_),
        pool_(std::make_unique<ThreadPool>(kConnectionsAtOnce)) {}
  ~NfsStore() override { is_closing_ = true; }

  std::vector<StoreEntry> list(const std::string& folder) const override;
  std::optional<std::uint64_t> size(const std::string& path) const override;
  std::span<const std::byte> read(const std::string& path, ByteBuffer& buffer) const override;
  std::unique_ptr<ByteStream> stream(const std::string& path, std::stop_token stop) const override;
  bool is_local() const override { return false; }

 private:
  using Work = std::function<void(NfsConnection&)>;
  enum class Absence { is_an_error, is_an_answer };
  // Does `work` on a connection that is not in use, and retries on another one if that may help. Returns false if there
  // is no such file and `absence` is an answer.
  // @throws DataError if it fails for another reason, or after the last try
  bool ask(const std::string& path, Absence absence, const Work& work) const;
  std::unique_ptr<NfsConnection> take() const;
  void read_part(const std::string& path, std::uint64_t first, RangePieces& pieces) const;
  // Returns the path relative to the folder of the place.
  std::string inner(const std::string& path) const {
    return path.size() > root_.size() ? path.substr(root_.size()) : "/";
  }

  const std::string root_;
  const NfsPlace place_;
  const RetryPolicy policy_;
  const NfsConnect connect_;
  std::atomic<bool> is_closing_ = false;
  const RangePlan plan_;
  mutable RetryNotes notes_;
  mutable KnownVersions known_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<NfsConnection>> idle_;
  const std::unique_ptr<ThreadPool> pool_;  // last, so that its threads end before the members that they use
};

std::unique_ptr<NfsConnection> NfsStore::take() const {
  {
    const std::scoped_lock lock(mutex_);
    while (!idle_.empty()) {
      std::unique_ptr<NfsConnection> connection = std::move(idle_.back());
      idle_.pop_back();
      if (connection->is_open()) return connection;
    }
  }
  try {
    return connect_(place_, [this] { return is_closing_ || interrupt_requested(); });
  } catch (const NfsFailure& failure) {
    if (!failure.is_absent) {
      const std::string reason = fmt::format("no connection to {}:{}: {}", place_.host, place_.port, failure.reason);
      throw NfsFailure{.reason = reason, .is_temporary = failure.is_temporary};
    }
    throw DataError(
        fmt::format("cannot read {}: the server has no such export or folder ({})", root_, shown(failure.reason)));
  }
}

bool NfsStore::ask(const std::string& path, Absence absence, const Work& work) const {
  for (int tried = 1;; ++tried) {
    throw_if_interrupted();
    try {
      std::unique_ptr<NfsConnection> connection = take();
      work(*connection);
      const std::scoped_lock lock(mutex_);
      idle_.push_back(std::move(connection));
      return true;
    } catch (const NfsFailure& failure) {
      throw_if_interrupted();
      if (failure.is_absent && absence == Absence::is_an_answer) return false;
      if (!failure.is_temporary || tried >= policy_.tries || is_closing_) {
        const std::string times = tried == 1 ? "" : fmt::format(" ({} tries)", tried);
        throw DataError(fmt::format("cannot read {}: {}{}", path, shown(failure.reason), times));
      }
      notes_.tell_retry(path, shown(failure.reason), tried + 1, policy_.tries, now_s());
    }
    pause_before(policy_, tried, 0, [this] { return is_closing_.load(); });
  }
}

std::vector<StoreEntry> NfsStore::list(const std::string& folder) const {
  std::vector<NfsEntry> found;
  ask(folder, Absence::is_an_answer, [&](NfsConnection& connection) { found = connection.list(inner(folder)); });
  if (found.size() > kMostEntries) {
    throw DataError(fmt::format("cannot list {}: it has more than {} entries", folder, kMostEntries));
  }
  std::vector<StoreEntry> entries;
  ListedNames names(folder);
  std::size_t others = 0;
  for (NfsEntry& entry : found) {
    if (!names.take(entry.name)) continue;
    const NfsAttributes& attributes = entry.attributes;
    const bool is_file = attributes.kind == StoreEntry::Kind::file;
    if (is_file) known_.expect(fmt::format("{}/{}", folder, entry.name), version_of(attributes));
    if (attributes.kind == StoreEntry::Kind::other && others++ == 0) {  // libnfs 4.0 follows links to the wrong place
      log::warning("{}/{} is left out: it is neither a file nor a folder, and links of an nfs:// root are not followed",
                   folder, entry.name);
    }
    entries.push_back(
        {std::move(entry.name), attributes.kind, is_file ? std::optional(attributes.bytes) : std::nullopt});
  }
  names.tell();
  if (others > 1) log::warning("{}: {} more such entries are left out", folder, others - 1);
  return entries;
}

std::optional<std::uint64_t> NfsStore::size(const std::string& path) const {
  if (const auto bytes = known_.bytes(path)) return bytes;
  NfsAttributes attributes;
  const bool is_there = ask(path, Absence::is_an_answer,
                            [&](NfsConnection& connection) { attributes = connection.attributes(inner(path)); });
  if (!is_there) return {};
  if (attributes.kind != StoreEntry::Kind::file) throw DataError(fmt::format("cannot read {}: it is not a file", path));
  known_.check(path, version_of(attributes));
  return attributes.bytes;
}

void NfsStore::read_part(const std::string& path, std::uint64_t first, RangePieces& pieces) const {
  NfsAttributes attributes;
  ask(path, Absence::is_an_error, [&](NfsConnection& connection) {
    pieces.clear();
    attributes = connection.read(inner(path), first, pieces);
  });
  known_.check(path, version_of(attributes));
  if (pieces.filled() < pieces.size()) {
    throw DataError(fmt::format("cannot read {}: it ends at byte {}, and {} bytes were expected", path,
                                first + pieces.filled(), first + pieces.size()));
  }
}

std::span<const std::byte> NfsStore::read(const std::string& path, ByteBuffer& buffer) const {
  const std::optional<std::uint64_t> bytes = size(path);
  if (!bytes) throw DataError(fmt::format("cannot read {}: there is no such file", path));
  if (*bytes > kMostObjectBytes) {
    throw DataError(fmt::format("cannot read {}: it has {} bytes, and at most {} are read as a whole", path, *bytes,
                                kMostObjectBytes));
  }
  std::size_t filled = 0;
  do {  // also for an empty file, to check its version
    const auto piece =
        static_cast<std::size_t>(std::min(*bytes - filled, std::max<std::uint64_t>(kMostTrustedBytes, filled)));
    RangePieces memory({room_behind(buffer, filled, piece, *bytes), piece});
    read_part(path, filled, memory);
    filled += piece;
  } while (filled < *bytes);
  return {buffer.reserve(0), filled};
}

std::unique_ptr<ByteStream> NfsStore::stream(const std::string& path, std::stop_token stop) const {
  const std::optional<std::uint64_t> bytes = size(path);
  if (!bytes) throw DataError(fmt::format("cannot read {}: there is no such file", path));
  const auto read = [this, path](std::uint64_t first, RangePieces& pieces, const auto&) {
    read_part(path, first, pieces);
  };
  return stream_ranges({.path = path, .size = *bytes, .read = read}, *pool_, plan_, std::move(stop));
}

}  // namespace

std::unique_ptr<Store> make_nfs_store(const Url& root, NfsConnect connect, const RetryPolicy& policy) {
  return std::make_unique<NfsStore>(root, std::move(connect), policy);
}

}  // namespace chexbench::storage
