// The blocks in which a range of a file is requested from an NFS server, all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "storage/range_pieces.hpp"

namespace chexbench::storage {

// Reorders the bytes of answers, which may arrive out of order.
class NfsBlocks {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;  // of a block: the size that servers grant

  // Of the bytes from `first` on that fill `pieces`. An empty range has one block, for the attributes of the file.
  NfsBlocks(std::uint64_t first, RangePieces& pieces) : pieces_(pieces) {
    std::size_t at = 0;
    do {
      const std::size_t bytes = std::min(kBytes, pieces.size() - at);
      blocks_.push_back({.first = first + at, .bytes = bytes});
      at += bytes;
    } while (at < pieces.size());
  }

  std::size_t count() const { return blocks_.size(); }
  // Where in the file the missing bytes of a block begin, and how many they are.
  std::uint64_t first_missing(std::size_t block) const { return blocks_[block].first + blocks_[block].done; }
  std::size_t missing(std::size_t block) const { return blocks_[block].bytes - blocks_[block].done; }

  // Takes the next bytes of a block, no more than it is missing.
  void take(std::size_t block, std::span<const std::byte> bytes) {
    Block& taken = blocks_[block];
    taken.done += bytes.size();
    if (block != next_) {
      taken.early.insert(taken.early.end(), bytes.begin(), bytes.end());
      return;
    }
    pieces_.append(bytes);
    while (missing(next_) == 0 && ++next_ < count()) pieces_.append(std::exchange(blocks_[next_].early, {}));
  }

 private:
  struct Block {
    std::uint64_t first = 0;
    std::size_t bytes = 0;
    std::size_t done = 0;               // bytes that were received
    std::vector<std::byte> early = {};  // received ahead of earlier blocks
  };

  RangePieces& pieces_;
  std::vector<Block> blocks_;
  std::size_t next_ = 0;  // the next block in order: all before it are complete
};

}  // namespace chexbench::storage
