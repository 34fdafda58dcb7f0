// Streams a file of a server by requesting several of its byte ranges at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "core/parallel.hpp"
#include "storage/block_pool.hpp"
#include "storage/range_pieces.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

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
