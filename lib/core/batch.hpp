// Batches of images and labels, which a pipeline delivers and an engine trains on, and the bounded pool that owns their
// memory. Pipelines and engines share nothing but these types.
#pragma once

#include <bit>
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

inline constexpr int kNihLabels = 14;  // labels per image of ChestX-ray14, in the order of dataset/dataset.hpp

// The value of an unknown label: its loss and gradient are 0, and scores leave it out. The loss is still divided by the
// number of all labels, so that a mean over ranks equals that of the whole batch.
inline constexpr float kIgnoredLabel = -1;

// The pixels of a batch. f32: 3 channels, normalized by the pipeline with ImageNet's mean and standard deviation, as
// input pipelines in TensorFlow do; a gray image has the same value in all three. u8: 1 channel of gray values 0..255,
// which the engine normalizes and expands to 3 channels. u8_rgb: 3 channels of 0..255, which the engine normalizes.
enum class Deliver { f32, u8, u8_rgb };

// The shape of a batch's image tensor, [images, height, width, channels] (NHWC, packed, without padding), and its
// number of labels.
struct BatchShape {
  int images = 0;                  // the local batch
  int height = 0;                  // in pixels
  int width = 0;                   // in pixels
  Deliver deliver = Deliver::f32;  // gives the number of channels and the element type
  int labels = kNihLabels;         // per image

  int channels() const { return deliver == Deliver::u8 ? 1 : 3; }
  std::size_t element_bytes() const { return deliver == Deliver::f32 ? sizeof(float) : 1; }
  std::size_t image_bytes() const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * static_cast<std::size_t>(channels()) *
           element_bytes();
  }
  std::size_t bytes() const { return image_bytes() * static_cast<std::size_t>(images); }
  friend bool operator==(const BatchShape&, const BatchShape&) = default;
};

// Identifies the image in a slot of a batch.
struct ExampleId {
  std::uint32_t image = 0;  // index in the data set's list of the split
  std::uint32_t epoch = 0;  // of the pipeline's source, counted from 0
  friend bool operator==(const ExampleId&, const ExampleId&) = default;
};

// Memory for `shape.images` images, the first `valid` of which are filled. A BatchPool owns it and reuses it, so the
// other slots hold leftovers of earlier batches. Not thread-safe, but threads may fill different slots at the same
// time.
struct Batch {
  BatchShape shape;
  std::byte* images = nullptr;  // shape.bytes() bytes, aligned to 64, from the pool's allocator
  std::vector<float> labels;    // [images, shape.labels], row-major, each 0, 1 or kIgnoredLabel
  std::vector<ExampleId> ids;   // [images]
  int valid = 0;                // filled slots, at the front

  // The first byte of a slot's image, which takes shape.image_bytes() bytes.
  std::byte* image(int slot) { return images + static_cast<std::size_t>(slot) * shape.image_bytes(); }
  // The labels of a slot, shape.labels values.
  std::span<float> label(int slot) {
    const auto count = static_cast<std::size_t>(shape.labels);
    return std::span<float>(labels).subspan(static_cast<std::size_t>(slot) * count, count);
  }
  // All images as floats. Only for a batch whose shape.deliver is f32.
  std::span<float> f32() { return {reinterpret_cast<float*>(images), shape.bytes() / sizeof(float)}; }
};

class BatchPool;

// Exclusive use of one batch: the batch returns to its pool when the lease is destroyed. Move-only. An empty lease
// means "no batch"; it must not be dereferenced. A lease may be destroyed on any thread, but is itself not thread-safe.
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
  // Returns the batch to its pool early, for example when its upload is done. The lease is empty afterwards.
  void release();

 private:
  std::shared_ptr<BatchPool> pool_;
  std::unique_ptr<Batch> batch_;
};

// A bounded set of batches of one shape. It limits how far a pipeline can run ahead of its consumer. Thread-safe.
// Leases keep their pool alive; the allocator must outlive the pool.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  // Makes a pool of at most `capacity` (>= 1) batches, each allocated when first needed. Example:
  //   auto pool = BatchPool::create({.images = 16, .height = 224, .width = 224}, 4, host_allocator());
  //   BatchLease lease = pool->acquire(stop);
  static std::shared_ptr<BatchPool> create(const BatchShape& shape, std::size_t capacity, PinnedAllocator& allocator);
  ~BatchPool();
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;

  // Returns a batch with valid == 0, and waits while all are leased. Returns an empty lease if stop is requested while
  // it waits (or earlier, with no batch free).
  // @throws std::bad_alloc if there is not enough memory for a new batch
  // @throws DeviceError if the engine's allocator throws it
  BatchLease acquire(std::stop_token stop);

  const BatchShape& shape() const { return shape_; }
  std::size_t capacity() const { return capacity_; }

 private:
  friend class BatchLease;
  BatchPool(const BatchShape& shape, std::size_t capacity, PinnedAllocator& allocator);
  void put_back(std::unique_ptr<Batch> batch);

  const BatchShape shape_;
  const std::size_t capacity_;
  PinnedAllocator& allocator_;
  std::mutex mutex_;
  std::condition_variable_any returned_;
  std::vector<std::unique_ptr<Batch>> free_;
  std::size_t allocated_ = 0;
};

// The labels of an image, usually few of many, and those that are unknown: a set of labels, each known by its place in
// Dataset::label_names. The first 64 take no extra memory; of the others only those that are set are stored, so that an
// image of one class in thousands stays small.
class LabelBits {
 public:
  static constexpr std::size_t kMostIgnored = 64;

  LabelBits() = default;
  // Bit f of `first`: label f. Implicit, so that a literal can stand for a set.
  LabelBits(std::uint64_t first) : first_(first) {}  // NOLINT(google-explicit-constructor)

  bool has(std::size_t label) const;
  void set(std::size_t label);
  bool empty() const { return first_ == 0 && others_.empty(); }
  // Marks a label below kMostIgnored as unknown: losses and scores leave it out. A label is never set and ignored.
  void ignore(std::size_t label) { ignored_ |= std::uint64_t{1} << label; }
  bool is_ignored(std::size_t label) const { return label < kMostIgnored && (ignored_ >> label & 1u) != 0; }
  // Returns the labels that are set, without the ignored ones, which a record cannot store.
  LabelBits present() const;
  // Calls `visit` with each label that is set, ascending.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t rest = first_; rest != 0; rest &= rest - 1) {
      visit(static_cast<std::size_t>(std::countr_zero(rest)));
    }
    for (const std::uint32_t label : others_) visit(std::size_t{label});
  }
  friend bool operator==(const LabelBits&, const LabelBits&) = default;

 private:
  std::uint64_t first_ = 0;
  std::uint64_t ignored_ = 0;
  std::vector<std::uint32_t> others_;  // from 64 on, ascending
};

}  // namespace chexbench
