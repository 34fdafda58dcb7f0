#include <fmt/format.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nfsc/libnfs-raw.h>  // needs the definitions of libnfs.h

#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <exception>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "storage/nfs/nfs_compound.hpp"
#include "storage/nfs/nfs_store.hpp"
#include "storage/retry.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {
namespace {

constexpr std::size_t kMostAnswerBytes = 2 * NfsBlocks::kBytes;
// libnfs asks for a folder part by part and answers once. An entry takes some 200 bytes.
constexpr std::size_t kMostListingBytes = kMostEntries * 256;

struct FreeContext {
  void operator()(nfs_context* context) const { nfs_destroy_context(context); }
};

StoreEntry::Kind kind_of(std::uint64_t mode) {
  if (S_ISREG(mode)) return StoreEntry::Kind::file;
  return S_ISDIR(mode) ? StoreEntry::Kind::folder : StoreEntry::Kind::other;
}

NfsAttributes known(const std::optional<NfsAttributes>& attributes) {
  if (!attributes) throw NfsFailure{.reason = "the server does not report type, size and time of last change"};
  return *attributes;
}

[[noreturn]] void lose(const std::string& reason) { throw NfsFailure{.reason = reason, .is_temporary = true}; }

class LibnfsConnection final : public NfsConnection {
 public:
  LibnfsConnection(const NfsPlace& place, std::function<bool()> ends);
  ~LibnfsConnection() override = default;
  LibnfsConnection(const LibnfsConnection&) = delete;
  LibnfsConnection& operator=(const LibnfsConnection&) = delete;

  std::vector<NfsEntry> list(const std::string& folder) override;
  NfsAttributes attributes(const std::string& path) override;
  NfsAttributes read(const std::string& path, std::uint64_t first, RangePieces& pieces) override;
  bool is_open() const override;

 private:
  // A request in flight. libnfs holds its address until it is answered or the context is destroyed.
  struct Request {
    LibnfsConnection* connection = nullptr;
    std::function<void(int result, void* data)> take;
  };
  static void on_answer(int result, nfs_context* context, void* data, void* request);
  static void on_compound(rpc_context* context, int status, void* data, void* request);
  // Handles an answer to `request`: passes `data` to its callback, or keeps the failure.
  void answer(const Request& request, int result, void* data, const char* reason);
  void fail(NfsFailure failure);
  // Sends a request by `begin` and passes its answer to `take`, unless it is a failure.
  template <class Begin>
  void ask(const Begin& begin, std::function<void(int result, void* data)> take);
  void ask(NfsCompound& compound, std::function<void(const COMPOUND4res& answer)> take);
  // Waits until all requests are answered, each with at most that many bytes. @throws NfsFailure the first failure
  // among the answers, or a lost connection
  void wait(std::size_t most_answer_bytes = kMostAnswerBytes);
  void wait_until_answered(std::size_t most_answer_bytes);
  void find_folder();
  // A read whose blocks are requested at once.
  struct Reading {
    const std::string& path;
    NfsBlocks blocks;
    std::optional<NfsAttributes> attributes = {};
  };
  void ask_for(Reading& reading, std::size_t block);

  const NfsPlace place_;
  const std::function<bool()> ends_;
  std::deque<Request> requests_;  // the context refers to them, and is destroyed first
  std::size_t waiting_ = 0;
  std::size_t answered_ = 0;
  std::optional<NfsFailure> failure_;
  std::exception_ptr thrown_;  // by a callback; it must not pass through libnfs, which is C
  std::unique_ptr<nfs_context, FreeContext> context_;
  std::string folder_handle_;  // of NfsPlace::folder
};

// Returns a name that no other client has. If two clients share a name, a server takes the second for a restart of the
// first and drops the first one's open files. libnfs builds names from the process and the current second, so two
// connections of a process can collide.
std::string client_name() {
  static std::atomic<unsigned> count = 0;
  return fmt::format("chexbench {} {} {:08x}", ::getpid(), ++count, std::random_device{}());
}

LibnfsConnection::LibnfsConnection(const NfsPlace& place, std::function<bool()> ends)
    : place_(place), ends_(std::move(ends)), context_(nfs_init_context()) {
  if (!context_) throw NfsFailure{.reason = "libnfs gives no context: out of memory"};
  nfs4_set_client_name(context_.get(), client_name().c_str());
  nfs_set_dircache(context_.get(), 0);
  // libnfs accepts the version and the port only in the query of a URL, and keeps them in the context.
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
  std::uint32_t said = 0;  // libnfs may keep a value outside its type: a server may send any number
  static_assert(sizeof said == sizeof(COMPOUND4res::status));
  std::memcpy(&said, &static_cast<const COMPOUND4res*>(data)->status, sizeof said);
  if (said == NFS4_OK) return one.connection->answer(one, 0, data, nullptr);
  one.connection->fail(failure_of(said));
}

void LibnfsConnection::answer(const Request& request, int result, void* data, const char* reason) {
  if (result < 0) return fail(failure_of(-result, reason));
  --waiting_;
  ++answered_;
  try {
    request.take(result, data);
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

void LibnfsConnection::fail(NfsFailure failure) {
  --waiting_;
  ++answered_;
  if (!failure_) failure_ = std::move(failure);
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

void LibnfsConnection::wait_until_answered(std::size_t most_answer_bytes) {
  const int socket = nfs_get_fd(context_.get());
  SocketWait wait(socket, place_.limits, ends_);
  std::size_t since_answer = 0;  // bytes, which libnfs would keep without limit
  for (std::size_t answered = answered_; waiting_ > 0; answered = answered_) {
    const auto events = static_cast<short>(nfs_which_events(context_.get()));
    if (const std::string reason = wait.wait(events); !reason.empty()) lose(reason);
    int bytes = 0;
    if (::ioctl(socket, FIONREAD, &bytes) == 0) wait.count(static_cast<std::size_t>(bytes));
    since_answer += static_cast<std::size_t>(bytes);
    if (nfs_service(context_.get(), wait.ready()) != 0 && waiting_ > 0) lose("the server closed the connection");
    if (answered != answered_) since_answer = 0;
    if (since_answer > most_answer_bytes) lose(fmt::format("an answer has more than {} bytes", most_answer_bytes));
  }
  requests_.clear();
}

void LibnfsConnection::wait(std::size_t most_answer_bytes) {
  failure_.reset();
  wait_until_answered(most_answer_bytes);
  if (thrown_) std::rethrow_exception(thrown_);
  if (failure_) throw NfsFailure(*std::exchange(failure_, {}));
}

// Paths of later requests begin here, so that a server looks up as few names as possible.
void LibnfsConnection::find_folder() {
  NfsCompound compound;
  ask(compound.look_up(place_.folder).get_handle(),
      [this](const COMPOUND4res& answer) { folder_handle_ = handle_in(answer).value_or(""); });
  wait();
}

// Requests the missing bytes of the block, repeatedly if the server sends fewer than requested.
void LibnfsConnection::ask_for(Reading& reading, std::size_t block) {
  NfsCompound compound(folder_handle_);
  compound.look_up(reading.path);
  if (block == 0 && !reading.attributes) compound.get_attributes();
  compound.read(reading.blocks.first_missing(block), reading.blocks.missing(block));
  ask(compound, [this, &reading, block](const COMPOUND4res& answer) {
    if (!reading.attributes) reading.attributes = attributes_in(answer);
    const std::optional<std::span<const std::byte>> sent = bytes_in(answer);
    if (!sent) lose("the server's answer lacks the bytes that were requested");
    if (sent->size() > reading.blocks.missing(block)) lose("the server sends more bytes than requested");
    reading.blocks.take(block, *sent);
    if (!sent->empty() && reading.blocks.missing(block) > 0) ask_for(reading, block);
  });
}

NfsAttributes LibnfsConnection::read(const std::string& path, std::uint64_t first, RangePieces& pieces) {
  Reading reading{.path = path, .blocks = NfsBlocks(first, pieces)};
  for (std::size_t block = 0; block < reading.blocks.count(); ++block) ask_for(reading, block);
  wait();
  return known(reading.attributes);
}

// A server sends nothing unrequested, so readable data can only be the end of the connection.
bool LibnfsConnection::is_open() const {
  pollfd socket{nfs_get_fd(context_.get()), POLLIN, 0};
  return ::poll(&socket, 1, 0) == 0;
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
  wait(kMostListingBytes);
  std::vector<NfsEntry> entries;
  while (const nfsdirent* const entry = nfs_readdir(context_.get(), opened)) {
    const std::string name = entry->name;
    if (name == "." || name == "..") continue;
    if (entries.size() > kMostEntries) break;  // NfsStore refuses this many
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
