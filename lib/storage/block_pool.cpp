#include "storage/block_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "storage/file_bytes.hpp"

namespace chexbench::storage {
namespace {

constexpr std::size_t kStepBytes = std::size_t{64} << 10;      // sizes are rounded up to it, so that blocks fit again
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;   // with other sizes of pages, blocks are as good as any
constexpr std::size_t kLeastSlabBytes = std::size_t{8} << 20;  // mapped at once; what no block uses takes no memory

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) { return (bytes + step - 1) / step * step; }

std::byte* pop(std::vector<std::byte*>& blocks) {
  std::byte* const last = blocks.back();
  blocks.pop_back();
  return last;
}

}  // namespace

BlockPool::Shelves::~Shelves() {
  for (const std::span<std::byte> slab : slabs_) ::munmap(slab.data(), slab.size());
}

std::byte* BlockPool::Shelves::take(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  Shelf& shelf = shelves_[bytes];
  std::byte* block = nullptr;
  if (!shelf.kept.empty()) {
    block = pop(shelf.kept);  // the one used last is the likeliest to be in a cache
    idle_bytes_ -= bytes;
  } else if (!shelf.empty.empty()) {
    block = pop(shelf.empty);
  } else {
    for (auto* const blocks : {&shelf.kept, &shelf.empty}) {
      if (blocks->capacity() <= shelf.blocks) blocks->reserve(2 * shelf.blocks + 1);
    }
    block = cut(bytes);
    ++shelf.blocks;
  }
  used_bytes_ += bytes;
  most_used_bytes_ = std::max(most_used_bytes_, used_bytes_);
  return block;
}

// Returns a new block. @throws std::bad_alloc
std::byte* BlockPool::Shelves::cut(std::size_t bytes) {
  if (rest_.size() < bytes) {
    const std::size_t slab_bytes = rounded_up(std::max(bytes, kLeastSlabBytes), kHugePageBytes);
    slabs_.reserve(slabs_.size() + 1);
    const std::size_t mapped_bytes = slab_bytes + kHugePageBytes;  // a huge page of it begins somewhere
    void* const mapped = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    slabs_.emplace_back(static_cast<std::byte*>(mapped), mapped_bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(mapped);
    rest_ = slabs_.back().subspan(rounded_up(address, kHugePageBytes) - address, slab_bytes);
    advise_pages(rest_, MADV_HUGEPAGE);
  }
  std::byte* const block = rest_.data();
  rest_ = rest_.subspan(bytes);
  return block;
}

void BlockPool::Shelves::put_back(std::byte* block, std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  Shelf& shelf = shelves_.find(bytes)->second;
  used_bytes_ -= bytes;
  if (used_bytes_ + idle_bytes_ + bytes > most_used_bytes_ + most_used_bytes_ / 2) {
    advise_pages({block, bytes}, MADV_DONTNEED);
    shelf.empty.push_back(block);
  } else {
    shelf.kept.push_back(block);
    idle_bytes_ += bytes;
  }
}

std::size_t BlockPool::Shelves::idle_bytes() const {
  const std::scoped_lock lock(mutex_);
  return idle_bytes_;
}

std::shared_ptr<std::byte[]> BlockPool::take(std::size_t bytes) {
  if (bytes < kStepBytes) return std::make_shared_for_overwrite<std::byte[]>(bytes);
  const std::size_t whole = rounded_up(bytes, kStepBytes);
  std::byte* const block = shelves_->take(whole);
  return {block, [shelves = shelves_, whole](std::byte* given) { shelves->put_back(given, whole); }};
}

}  // namespace chexbench::storage
