#include <fmt/format.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nfsc/libnfs-raw.h>  // uses what libnfs.h defines

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <utility>

#include "core/clock.hpp"
#include "storage/limits.hpp"
#include "storage/nfs/nfs_compound.hpp"
#include "storage/nfs/nfs_connection.hpp"

namespace chexbench::storage {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;  // per request: the largest answer that libnfs accepts
constexpr int kLookMs = 50;                               // how often a wait checks whether it should end

struct FreeContext {
  void operator()(nfs_context* context) const { nfs_destroy_context(context); }
};

// Returns true for errors that another connection, or a later try, does not fix. libnfs reports NFSv4's own states
// (grace, expired) as ERANGE, which is temporary.
bool is_lasting(int code) {
  constexpr std::array kLasting{ENOENT, EACCES, EPERM, ENOTDIR, EISDIR, EINVAL, ENAMETOOLONG, ELOOP, ENOMEM};
  return std::ranges::find(kLasting, code) != kLasting.end();
}

StoreEntry::Kind kind_of(std::uint64_t mode) {
  if (S_ISREG(mode)) return StoreEntry::Kind::file;
  return S_ISDIR(mode) ? StoreEntry::Kind::folder : StoreEntry::Kind::other;
}

NfsAttributes known(const std::optional<NfsAttributes>& attributes) {
  if (!attributes) throw NfsFailure{.reason = "the server does not tell type, size and time of last change"};
  return *attributes;
}

// The part of a read() that one request covers.
struct Block {
  std::uint64_t first = 0;
  std::span<std::byte> part;
  std::size_t done = 0;
};

class LibnfsConnection final : public NfsConnection {
 public:
  LibnfsConnection(const NfsPlace& place, std::function<bool()> ends);
  ~LibnfsConnection() override = default;
  LibnfsConnection(const LibnfsConnection&) = delete;
  LibnfsConnection& operator=(const LibnfsConnection&) = delete;

  std::vector<NfsEntry> list(const std::string& folder) override;
  NfsAttributes attributes(const std::string& path) override;
  Piece read(const std::string& path, std::uint64_t first, std::span<std::byte> part) override;

 private:
  // A request in flight. libnfs holds its address until it is answered or the context is destroyed.
  struct Request {
    LibnfsConnection* connection = nullptr;
    std::function<void(int result, void* data)> take;
  };
  static void on_answer(int result, nfs_context* context, void* data, void* request);
  static void on_compound(rpc_context* context, int status, void* data, void* request);
  // Books an answer to `request`: passes `data` to whoever waits for it, or keeps the failure.
  void answer(const Request& request, int result, void* data, const char* reason);
  // Sends a request by `begin` and passes its answer to `take`, unless it is a failure.
  template <class Begin>
  void ask(const Begin& begin, std::function<void(int result, void* data)> take);
  void ask(NfsCompound& compound, std::function<void(const COMPOUND4res& answer)> take);
  // Waits until all requests are answered. @throws NfsFailure the first failure among the answers, or a lost connection
  void wait();
  void wait_until_answered(double timeout_s);
  [[noreturn]] void lose(const std::string& reason);
  void find_folder();
  void ask_for_block(const std::string& path, Block& block, std::optional<NfsAttributes>* attributes = nullptr);

  const NfsPlace place_;
  const std::function<bool()> ends_;
  std::deque<Request>
      requests_;  // those that the context may still refer to; before context_, which is destroyed first
  std::size_t waiting_ = 0;
  std::size_t answered_ = 0;
  std::optional<NfsFailure> failure_;
  bool is_lost_ = false;
  std::unique_ptr<nfs_context, FreeContext> context_;
  std::string folder_handle_;  // of NfsPlace::folder
};

// Returns a name that no other client has. If two clients have one name, a server takes the second for a restart of the
// first and drops what the first had open. libnfs's own names consist of the process and the current second, so two
// connections of a process can share one.
std::string client_name() {
  static std::atomic<unsigned> count = 0;
  return fmt::format("chexbench {} {} {:08x}", ::getpid(), ++count, std::random_device{}());
}

LibnfsConnection::LibnfsConnection(const NfsPlace& place, std::function<bool()> ends)
    : place_(place), ends_(std::move(ends)), context_(nfs_init_context()) {
  if (!context_) throw NfsFailure{.reason = "libnfs gives no context: out of memory"};
  nfs4_set_client_name(context_.get(), client_name().c_str());
  nfs_set_dircache(context_.get(), 0);
  // libnfs takes the version and the port only from the query of a URL, and keeps them in the context.
  const std::string url = fmt::format("nfs://host/?version=4&nfsport={}", place.port);
  nfs_url* const parsed = nfs_parse_url_dir(context_.get(), url.c_str());
  if (parsed == nullptr) throw NfsFailure{.reason = nfs_get_error(context_.get())};
  nfs_destroy_url(parsed);
  ask(
      [&](Request* request) {
        return nfs_mount_async(context_.get(), place_.host.c_str(), place_.folder.c_str(), on_answer, request);
      },
      [](int, void*) {});
  wait();
  find_folder();
}

void LibnfsConnection::on_answer(int result, nfs_context* context, void* data, void* request) {
  const Request& one = *static_cast<const Request*>(request);
  one.connection->answer(one, result, data, result < 0 ? nfs_get_error(context) : nullptr);
}

void LibnfsConnection::on_compound(rpc_context*, int status, void* data, void* request) {
  const Request& one = *static_cast<const Request*>(request);
  if (status != RPC_STATUS_SUCCESS) {
    one.connection->answer(one, -EIO, nullptr, status == RPC_STATUS_ERROR ? static_cast<const char*>(data) : nullptr);
    return;
  }
  const nfsstat4 said = static_cast<const COMPOUND4res*>(data)->status;
  if (said == NFS4ERR_SYMLINK) {
    one.connection->answer(one, -ELOOP, nullptr, "links of the server are not followed: name the folder itself");
    return;
  }
  const int result = said == NFS4_OK ? 0 : -std::abs(nfsstat4_to_errno(said));
  one.connection->answer(one, result, data, said == NFS4_OK ? nullptr : nfsstat4_to_str(said));
}

void LibnfsConnection::answer(const Request& request, int result, void* data, const char* reason) {
  --waiting_;
  ++answered_;
  if (result >= 0) {
    request.take(result, data);
  } else if (!failure_) {
    failure_ = {.reason = reason != nullptr && *reason != 0 ? reason : std::strerror(-result),
                .is_temporary = !is_lasting(-result),
                .is_absent = result == -ENOENT || result == -ENOTDIR};
  }
}

template <class Begin>
void LibnfsConnection::ask(const Begin& begin, std::function<void(int result, void* data)> take) {
  requests_.push_back({this, std::move(take)});
  if (begin(&requests_.back()) != 0) lose(nfs_get_error(context_.get()));
  ++waiting_;
}

void LibnfsConnection::ask(NfsCompound& compound, std::function<void(const COMPOUND4res& answer)> take) {
  COMPOUND4args arguments = compound.arguments();
  ask(
      [&](Request* request) {
        return rpc_nfs4_compound_async(nfs_get_rpc_context(context_.get()), on_compound, &arguments, request);
      },
      [take = std::move(take)](int, void* data) { take(*static_cast<const COMPOUND4res*>(data)); });
}

void LibnfsConnection::lose(const std::string& reason) {
  is_lost_ = true;
  throw NfsFailure{.reason = reason, .is_temporary = true};
}

void LibnfsConnection::wait_until_answered(double timeout_s) {
  const double begin_s = now_s();
  double since_s = begin_s;
  for (std::size_t answered = answered_; waiting_ > 0;) {
    if (ends_()) lose("nobody waits for it any more");
    pollfd events{nfs_get_fd(context_.get()), static_cast<short>(nfs_which_events(context_.get())), 0};
    if (::poll(&events, 1, kLookMs) < 0 && errno != EINTR) lose(std::strerror(errno));
    if (nfs_service(context_.get(), events.revents) != 0 && waiting_ > 0) lose("the server closed the connection");
    if (answered != answered_) since_s = now_s();
    answered = answered_;
    if (now_s() > since_s + timeout_s) lose(fmt::format("no answer for {} s", timeout_s));
    if (now_s() > begin_s + place_.whole_try_s) lose(fmt::format("not done after {} s", place_.whole_try_s));
  }
  requests_.clear();
}

void LibnfsConnection::wait() {
  failure_.reset();
  wait_until_answered(place_.timeout_s);
  if (!failure_) return;
  if (failure_->is_temporary) is_lost_ = true;
  throw NfsFailure(*std::exchange(failure_, {}));
}

// Paths of later requests begin here, so that a server looks up as few names as it can.
void LibnfsConnection::find_folder() {
  NfsCompound compound;
  ask(compound.look_up(place_.folder).get_handle(),
      [this](const COMPOUND4res& answer) { folder_handle_ = handle_in(answer).value_or(""); });
  wait();
}

// Requests the rest of the block, and again what is missing if the server sends fewer bytes than requested.
void LibnfsConnection::ask_for_block(const std::string& path, Block& block, std::optional<NfsAttributes>* attributes) {
  NfsCompound compound(folder_handle_);
  compound.look_up(path);
  if (attributes != nullptr) compound.get_attributes();
  compound.read(block.first + block.done, block.part.size() - block.done);
  ask(compound, [this, &path, &block, attributes](const COMPOUND4res& answer) {
    if (attributes != nullptr) *attributes = attributes_in(answer);
    const std::span<const std::byte> sent = bytes_in(answer).value_or(std::span<const std::byte>());
    const std::size_t bytes = std::min(sent.size(), block.part.size() - block.done);
    if (bytes > 0) std::memcpy(block.part.data() + block.done, sent.data(), bytes);
    block.done += bytes;
    if (bytes > 0 && block.done < block.part.size()) ask_for_block(path, block);
  });
}

NfsConnection::Piece LibnfsConnection::read(const std::string& path, std::uint64_t first, std::span<std::byte> part) {
  std::deque<Block> blocks = {{first, part.first(std::min(kReadBytes, part.size())), 0}};
  for (std::size_t at = kReadBytes; at < part.size(); at += kReadBytes) {
    blocks.push_back({first + at, part.subspan(at, std::min(kReadBytes, part.size() - at)), 0});
  }
  std::optional<NfsAttributes> attributes;
  for (Block& block : blocks) ask_for_block(path, block, &block == &blocks.front() ? &attributes : nullptr);
  wait();
  Piece piece{.bytes = 0, .attributes = known(attributes)};
  for (const Block& block : blocks) {
    piece.bytes += block.done;
    if (block.done < block.part.size()) break;
  }
  return piece;
}

NfsAttributes LibnfsConnection::attributes(const std::string& path) {
  std::optional<NfsAttributes> attributes;
  NfsCompound compound(folder_handle_);
  ask(compound.look_up(path).get_attributes(),
      [&attributes](const COMPOUND4res& answer) { attributes = attributes_in(answer); });
  wait();
  return known(attributes);
}

std::vector<NfsEntry> LibnfsConnection::list(const std::string& folder) {
  nfsdir* opened = nullptr;
  ask([&](Request* request) { return nfs_opendir_async(context_.get(), folder.c_str(), on_answer, request); },
      [&opened](int, void* data) { opened = static_cast<nfsdir*>(data); });
  wait();
  std::vector<NfsEntry> entries;
  while (const nfsdirent* const entry = nfs_readdir(context_.get(), opened)) {
    const std::string name = entry->name;
    if (name == "." || name == "..") continue;
    if (entries.size() > kMostEntries) break;  // NfsStore refuses as many
    entries.push_back(
        {name,
         {kind_of(entry->mode), entry->size, static_cast<std::uint64_t>(entry->mtime.tv_sec), entry->mtime_nsec}});
  }
  nfs_closedir(context_.get(), opened);
  return entries;
}

}  // namespace

NfsConnect nfs_connect() {
  return [](const NfsPlace& place, std::function<bool()> ends) -> std::unique_ptr<NfsConnection> {
    return std::make_unique<LibnfsConnection>(place, std::move(ends));
  };
}

}  // namespace chexbench::storage
