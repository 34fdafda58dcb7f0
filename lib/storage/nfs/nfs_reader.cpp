#include "storage/nfs/nfs_reader.hpp"

#include <nfsc/libnfs-zdr.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "storage/nfs/nfs_compound.hpp"

namespace chexbench::storage {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;  // per request: what servers grant
constexpr std::uint32_t kCall = 0, kReply = 1, kRpcVersion = 2, kAccepted = 0, kSuccess = 0;
constexpr std::size_t kMostVerifierBytes = 400;  // RFC 5531, 8.2
constexpr std::size_t kMostCommentBytes = 1024, kMostWords = 8, kMostAttributeBytes = 1024;

void put_word(std::vector<std::byte>& to, std::uint32_t word) {
  for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::byte>(word >> shift));
}

// Appends the compound as XDR; `most_bytes` is an upper bound of its size.
void put_compound(std::vector<std::byte>& to, NfsCompound& compound, std::size_t most_bytes) {
  const std::size_t before = to.size();
  to.resize(before + most_bytes);
  COMPOUND4args arguments = compound.arguments();
  ZDR zdr{};
  zdrmem_create(&zdr, reinterpret_cast<char*>(to.data() + before), static_cast<std::uint32_t>(most_bytes), ZDR_ENCODE);
  const bool fits = zdr_COMPOUND4args(&zdr, &arguments) != 0;
  to.resize(before + zdr_getpos(&zdr));
  zdr_destroy(&zdr);
  if (!fits) throw NfsFailure{.reason = "its name is too long for a request"};
}

// Appends a call as a record of one fragment, by the user of this process, as libnfs does it.
void put_call(std::vector<std::byte>& to, std::uint32_t number, NfsCompound& compound, std::size_t most_bytes) {
  const std::size_t mark = to.size();
  constexpr std::uint32_t kUserBytes = 5 * 4;  // a stamp, no name of this machine, user, group, no further groups
  for (const std::uint32_t word :
       {0U, number, kCall, kRpcVersion, std::uint32_t{NFS4_PROGRAM}, std::uint32_t{NFS_V4},
        std::uint32_t{NFSPROC4_COMPOUND}, std::uint32_t{AUTH_UNIX}, kUserBytes, 0U, 0U, std::uint32_t{::getuid()},
        std::uint32_t{::getgid()}, 0U, std::uint32_t{AUTH_NONE}, 0U}) {
    put_word(to, word);
  }
  put_compound(to, compound, most_bytes);
  std::vector<std::byte> head;
  put_word(head, kLastNfsFragment | static_cast<std::uint32_t>(to.size() - mark - 4));
  std::ranges::copy(head, to.begin() + static_cast<std::ptrdiff_t>(mark));
}

// The part of a read() that one request covers.
struct Block {
  std::uint64_t first = 0;
  std::size_t bytes = 0;
  std::uint32_t number = 0;                 // of the request in flight
  std::size_t done = 0;                     // bytes that were received
  bool is_done = false;                     // complete, or the file ends in it
  std::shared_ptr<std::byte[]> early = {};  // what was received before those of the blocks before it
  std::size_t early_bytes = 0;
};

// One read(): sends a request for each block, and puts the bytes of the answers into their order.
class Reading {
 public:
  Reading(NfsAnswers& answers, std::string_view folder, const std::string& path, RangePieces& pieces,
          std::uint32_t& last_request, BlockPool& spare)
      : answers_(answers), folder_(folder), path_(path), pieces_(pieces), last_request_(last_request), spare_(spare) {}

  NfsAttributes run(std::uint64_t first) {
    std::size_t at = 0;
    do {  // one for an empty range as well, for its attributes
      const std::size_t bytes = std::min(kReadBytes, pieces_.size() - at);
      request(blocks_.emplace_back(Block{.first = first + at, .bytes = bytes}));
      at += bytes;
    } while (at < pieces_.size());
    answers_.send(std::exchange(calls_, {}));
    for (std::size_t left = blocks_.size(); left > 0;) {
      if (take_answer().is_done) --left;
      answers_.send(std::exchange(calls_, {}));
      deliver_early();
    }
    if (!attributes_) throw NfsFailure{.reason = "the server does not tell type, size and time of last change"};
    return *attributes_;
  }

 private:
  void request(Block& block) {
    NfsCompound compound(folder_);
    compound.look_up(path_);
    if (&block == &blocks_.front() && block.done == 0) compound.get_attributes();
    compound.read(block.first + block.done, block.bytes - block.done);
    block.number = ++last_request_;
    put_call(calls_, block.number, compound, folder_.size() + 8 * path_.size() + 1024);
  }

  // Takes the next answer, whichever it is, and requests what is missing if it has fewer bytes than requested.
  Block& take_answer() {
    answers_.begin();
    Block& block = block_of(answers_.take_word());
    take_head();
    const std::size_t before = block.done;
    take_results(block);
    answers_.end();
    block.is_done = block.done == block.bytes || block.done == before;
    if (!block.is_done) request(block);
    return block;
  }

  Block& block_of(std::uint32_t number) {
    const auto found = std::ranges::find_if(
        blocks_, [number](const Block& block) { return block.number == number && !block.is_done; });
    if (found == blocks_.end()) NfsAnswers::lose("the server answers what nobody asked");
    return *found;
  }

  // Takes what is before the results. @throws NfsFailure if the server says that it failed
  void take_head() {
    if (answers_.take_word() != kReply || answers_.take_word() != kAccepted) {
      NfsAnswers::lose("the server does not accept the request");
    }
    answers_.take_word();
    answers_.take_opaque(kMostVerifierBytes);
    if (answers_.take_word() != kSuccess) NfsAnswers::lose("the server cannot do what is requested");
    const std::uint32_t status = answers_.take_word();
    if (status != NFS4_OK) throw failure_of(status);
    answers_.take_opaque(kMostCommentBytes);
  }

  void take_results(Block& block) {
    for (std::uint32_t results = answers_.take_word(); results > 0; --results) {
      const std::uint32_t operation = answers_.take_word();
      if (answers_.take_word() != NFS4_OK) NfsAnswers::lose("the server contradicts itself");
      if (operation == OP_GETATTR) take_attributes();
      if (operation == OP_READ) return take_bytes(block);
      if (operation != OP_GETATTR && operation != OP_PUTFH && operation != OP_LOOKUP) {
        NfsAnswers::lose("the server answers another request");
      }
    }
  }

  void take_attributes() {
    std::vector<std::uint32_t> words(std::min<std::size_t>(answers_.take_word(), kMostWords));
    for (std::uint32_t& word : words) word = answers_.take_word();
    attributes_ = attributes_of(words, answers_.take_opaque(kMostAttributeBytes));
  }

  void take_bytes(Block& block) {
    answers_.take_word();  // whether the file ends here, which fewer bytes say as well
    std::size_t left = answers_.take_word();
    if (left > block.bytes - block.done) NfsAnswers::lose("the server sends more bytes than requested");
    block.done += left;
    if (&block != &next()) return take_early(block, left);
    while (left > 0) {
      const std::span<std::byte> room = pieces_.room();
      const std::size_t count = answers_.take_some(room.first(std::min(room.size(), left)));
      pieces_.add(count);
      left -= count;
    }
  }

  void take_early(Block& block, std::size_t bytes) {
    if (!block.early) block.early = spare_.take(block.bytes);
    answers_.take({block.early.get() + block.early_bytes, bytes});
    block.early_bytes += bytes;
  }

  // The block whose bytes come next: all before it are complete.
  Block& next() { return blocks_[std::min(delivered_, blocks_.size() - 1)]; }

  void deliver_early() {
    while (delivered_ < blocks_.size() && next().is_done && next().done == next().bytes) {
      ++delivered_;
      if (delivered_ == blocks_.size()) break;
      pieces_.append({next().early.get(), next().early_bytes});
      next().early.reset();
    }
  }

  NfsAnswers& answers_;
  const std::string_view folder_;
  const std::string& path_;
  RangePieces& pieces_;
  std::uint32_t& last_request_;
  BlockPool& spare_;
  std::vector<std::byte> calls_;  // that are to be sent
  std::deque<Block> blocks_;
  std::size_t delivered_ = 0;  // blocks all of whose bytes are in pieces_
  std::optional<NfsAttributes> attributes_;
};

}  // namespace

NfsReader::NfsReader(SocketLimits limits) : NfsReader(std::move(limits), std::random_device{}()) {}

NfsReader::NfsReader(SocketLimits limits, std::uint32_t last_request)
    : limits_(std::move(limits)), last_request_(last_request) {}

NfsAttributes NfsReader::read(int socket, std::string_view folder, const std::string& path, std::uint64_t first,
                              RangePieces& pieces) {
  NfsAnswers answers(socket, limits_);
  return Reading(answers, folder, path, pieces, last_request_, spare_).run(first);
}

}  // namespace chexbench::storage
