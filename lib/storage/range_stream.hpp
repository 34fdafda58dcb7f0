// Streams a file of a server by requesting several of its byte ranges at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "core/parallel.hpp"
#include "storage/block_pool.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// The bytes of a range, in one piece or cut where a reader will take them: a record in a piece of exactly its size
// needs no copy. Not thread-safe.
class RangePieces {
 public:
  // One piece: `memory`, which the caller keeps.
  explicit RangePieces(std::span<std::byte> memory);
  // Takes memory for `bytes` bytes from `blocks` as they arrive, and cuts them where `finder` finds a piece.
  RangePieces(std::size_t bytes, BlockPool& blocks, const PieceFinder& finder);

  std::size_t size() const { return size_; }      // of the whole range
  std::size_t filled() const { return filled_; }  // bytes that have arrived
  // Copies bytes that arrive next; at least that many must be missing.
  void append(std::span<const std::byte> bytes);
  // Discards the bytes received so far, because they are requested again.
  void clear();

  struct Taken {
    SharedBytes view;
    bool is_most_of_its_memory = false;  // the owner then holds at most twice the bytes of the view
  };
  // Takes the next `bytes` bytes of a range that has arrived, or fewer if a piece ends before.
  Taken take(std::size_t bytes);
  // Whether all arrived bytes were taken.
  bool is_taken() const { return taken_ == filled_; }

 private:
  struct Piece {
    std::shared_ptr<std::byte[]> owner;
    std::span<std::byte> memory;
    std::size_t used = 0;   // of the memory
    std::size_t taken = 0;  // of what is used
  };
  // Returns memory for bytes that arrive next: possibly fewer than are missing, but at least one unless none is.
  std::span<std::byte> room();
  // Records that this many bytes were written to room().
  void add(std::size_t bytes);
  // Begins a piece of `found` bytes or, if that is 0, of the most bytes that may arrive before one is found.
  void begin(std::size_t found);
  void look_for_piece();
  void end_found();
  // Moves the last `bytes` bytes of the last piece to a new one of `found` bytes.
  void split(std::size_t bytes, std::size_t found);

  const std::size_t size_;
  BlockPool* const blocks_ = nullptr;
  const PieceFinder finder_ = {};
  std::size_t filled_ = 0, taken_ = 0;
  std::deque<Piece> pieces_;
  std::size_t found_ = 0;      // bytes of the last piece if it was found, else 0
  std::size_t looked_at_ = 0;  // of the last piece if it was not found
  bool looks_ = false;         // for pieces
};

// The read-ahead of a stream. A stream holds bytes x ahead of memory, in blocks that all streams of a store share.
struct RangePlan {
  std::size_t bytes = std::size_t{4} << 20;  // per request: enough to hide a round trip of 10 ms at 400 MB/s
  std::size_t ahead = 3;                     // requests in flight
  std::shared_ptr<BlockPool> blocks = std::make_shared<BlockPool>();
};

// A file whose ranges several threads can read at once.
struct RangedFile {
  std::string path;
  std::uint64_t size = 0;
  // Fills `pieces` with the bytes of the file from byte `first` on. It may return early once `wanted()` is false. Its
  // exceptions are rethrown by the stream's take().
  std::function<void(std::uint64_t first, RangePieces& pieces, const std::function<bool()>& wanted)> read;
};

// Returns a stream that calls file.read on the threads of `pool`, which must outlive the stream. A call may still run
// after the stream is destroyed. After `stop` is requested, take() returns empty bytes instead of waiting.
std::unique_ptr<ByteStream> stream_ranges(RangedFile file, ThreadPool& pool, const RangePlan& plan,
                                          std::stop_token stop);

}  // namespace chexbench::storage
