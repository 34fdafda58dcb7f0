// A batch: what a pipeline delivers and an engine trains on, and the pool that its memory returns to.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "core/allocator.hpp"

namespace chexbench {

inline constexpr int kFindings = 14;  // labels of an image of ChestX-ray14, in the order of dataset/nih_labels.hpp

// What a batch holds. f32: 3 channels, normalized, as TensorFlow feeds. u8: 1 channel, 0..255; the engine normalizes.
enum class Deliver { f32, u8 };

// Shape of the image tensor of a batch: [images, height, width, channels], NHWC, packed; and how many labels each has.
struct BatchShape {
  int images = 0;
  int height = 0;
  int width = 0;
  Deliver deliver = Deliver::f32;
  int labels = kFindings;

  int channels() const { return deliver == Deliver::f32 ? 3 : 1; }
  std::size_t element_bytes() const { return deliver == Deliver::f32 ? sizeof(float) : 1; }
  std::size_t image_bytes() const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * static_cast<std::size_t>(channels()) *
           element_bytes();
  }
  std::size_t bytes() const { return image_bytes() * static_cast<std::size_t>(images); }
  friend bool operator==(const BatchShape&, const BatchShape&) = default;
};

// Where an image of a batch came from.
struct ExampleId {
  std::uint32_t image = 0;  // index in the data set's list of the split
  std::uint32_t epoch = 0;
  friend bool operator==(const ExampleId&, const ExampleId&) = default;
};

// Memory for `shape.images` images, of which the first `valid` are filled. Owned by a BatchPool.
struct Batch {
  BatchShape shape;
  std::byte* images = nullptr;  // shape.bytes(), aligned to 64
  std::vector<float> labels;    // [images, shape.labels], 0 or 1
  std::vector<ExampleId> ids;   // [images]
  int valid = 0;

  std::byte* image(int slot) { return images + static_cast<std::size_t>(slot) * shape.image_bytes(); }
  std::span<float> label(int slot) {
    const auto count = static_cast<std::size_t>(shape.labels);
    return std::span<float>(labels).subspan(static_cast<std::size_t>(slot) * count, count);
  }
  std::span<float> f32() { return {reinterpret_cast<float*>(images), shape.bytes() / sizeof(float)}; }
};

class BatchPool;

// Exclusive use of one batch; gives it back to its pool when destroyed. Move-only. An empty lease means "no batch".
class BatchLease {
 public:
  BatchLease() = default;
  BatchLease(std::shared_ptr<BatchPool> pool, std::unique_ptr<Batch> batch);
  BatchLease(BatchLease&&) noexcept = default;
  BatchLease& operator=(BatchLease&& other) noexcept;
  ~BatchLease();

  explicit operator bool() const { return batch_ != nullptr; }
  Batch& operator*() const { return *batch_; }
  Batch* operator->() const { return batch_.get(); }
  // Gives the batch back before the lease ends, e.g. when its upload is done.
  void release();

 private:
  std::shared_ptr<BatchPool> pool_;
  std::unique_ptr<Batch> batch_;
};

// A bounded set of batches of one shape. Thread-safe. Leases keep their pool alive, and the allocator must outlive it.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  // Allocates lazily, at most `capacity` batches. Example:
  //   auto pool = BatchPool::create({.images = 16, .height = 224, .width = 224}, 4, host_allocator());
  //   BatchLease lease = pool->acquire(stop);
  static std::shared_ptr<BatchPool> create(const BatchShape& shape, std::size_t capacity, PinnedAllocator& allocator);
  ~BatchPool();
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;

  // A batch with valid == 0; waits while all are leased. Empty once stop is requested. @throws std::bad_alloc
  BatchLease acquire(std::stop_token stop);

  const BatchShape& shape() const { return shape_; }
  std::size_t capacity() const { return capacity_; }
  // Bytes of the batches allocated so far, leased or not.
  std::size_t allocated_bytes() const;

 private:
  friend class BatchLease;
  BatchPool(const BatchShape& shape, std::size_t capacity, PinnedAllocator& allocator);
  void put_back(std::unique_ptr<Batch> batch);

  const BatchShape shape_;
  const std::size_t capacity_;
  PinnedAllocator& allocator_;
  mutable std::mutex mutex_;
  std::condition_variable_any returned_;
  std::vector<std::unique_ptr<Batch>> free_;
  std::size_t allocated_ = 0;
};

}  // namespace chexbench
