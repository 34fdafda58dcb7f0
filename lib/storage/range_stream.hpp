// A file on a server, read in ranges of which several are under way at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "core/thread_pool.hpp"
#include "storage/block_pool.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// How much a stream reads ahead: memory of a stream is bytes x ahead, out of blocks that the streams of a store share.
struct RangePlan {
  std::size_t bytes = std::size_t{4} << 20;  // of one request: long enough to hide a round trip of 10 ms at 400 MB/s
  std::size_t ahead = 3;                     // requests under way
  std::shared_ptr<BlockPool> blocks = std::make_shared<BlockPool>();
};

// A file whose ranges can be read by several threads at once.
struct RangedFile {
  std::string path;
  std::uint64_t size = 0;
  // Fills `part` from byte `first` on. Once `wanted` is false it may return early. @throws DataError
  std::function<void(std::uint64_t first, std::span<std::byte> part, const std::function<bool()>& wanted)> read;
};

// `pool` calls file.read and must outlive the stream; a call may go on when the stream is gone.
std::unique_ptr<ByteStream> stream_ranges(RangedFile file, ThreadPool& pool, const RangePlan& plan,
                                          std::stop_token stop);

}  // namespace chexbench::storage
