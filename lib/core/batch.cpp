#include "core/batch.hpp"

#include <algorithm>
#include <utility>

namespace chexbench {
namespace {

constexpr std::size_t kInFirst = 64;

}  // namespace

BatchLease::BatchLease(std::shared_ptr<BatchPool> pool, std::unique_ptr<Batch> batch)
    : pool_(std::move(pool)), batch_(std::move(batch)) {}

BatchLease& BatchLease::operator=(BatchLease&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = std::move(other.pool_);
    batch_ = std::move(other.batch_);
  }
  return *this;
}

BatchLease::~BatchLease() { release(); }

void BatchLease::release() {
  if (batch_) pool_->put_back(std::move(batch_));
  pool_.reset();
}

std::shared_ptr<BatchPool> BatchPool::create(const BatchShape& shape, std::size_t capacity,
                                             PinnedAllocator& allocator) {
  return std::shared_ptr<BatchPool>(new BatchPool(shape, capacity, allocator));
}

BatchPool::BatchPool(const BatchShape& shape, std::size_t capacity, PinnedAllocator& allocator)
    : shape_(shape), capacity_(capacity), allocator_(allocator) {
  free_.reserve(capacity);
}

BatchPool::~BatchPool() {
  for (const auto& batch : free_) allocator_.deallocate(batch->images, shape_.bytes());
}

BatchLease BatchPool::acquire(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (free_.empty() && allocated_ < capacity_) {
    auto batch = std::make_unique<Batch>();
    batch->shape = shape_;
    batch->labels.resize(static_cast<std::size_t>(shape_.images) * static_cast<std::size_t>(shape_.labels));
    batch->ids.resize(static_cast<std::size_t>(shape_.images));
    batch->images = allocator_.allocate(shape_.bytes());  // last: nothing would free it if the above failed
    ++allocated_;
    free_.push_back(std::move(batch));
  }
  if (!returned_.wait(lock, stop, [this] { return !free_.empty(); })) return {};
  auto batch = std::move(free_.back());
  free_.pop_back();
  batch->valid = 0;
  return {shared_from_this(), std::move(batch)};
}

void BatchPool::put_back(std::unique_ptr<Batch> batch) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(batch));
  }
  returned_.notify_one();
}

bool LabelBits::has(std::size_t label) const {
  if (label < kInFirst) return (first_ >> label & 1u) != 0;
  return std::ranges::binary_search(others_, static_cast<std::uint32_t>(label));
}

void LabelBits::set(std::size_t label) {
  if (label < kInFirst) {
    first_ |= std::uint64_t{1} << label;
    return;
  }
  const auto value = static_cast<std::uint32_t>(label);
  const auto place = std::ranges::lower_bound(others_, value);
  if (place == others_.end() || *place != value) others_.insert(place, value);
}

LabelBits LabelBits::present() const {
  LabelBits labels = *this;
  labels.ignored_ = 0;
  return labels;
}

}  // namespace chexbench
