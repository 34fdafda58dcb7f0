#include "pipeline/batch_line.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace chexbench::pipeline {
namespace {

bool is_complete(const BatchInMaking& batch) { return batch.closed && batch.finished == batch.claimed; }

}  // namespace

BatchLine::BatchLine(Op& op, Turnstile& turnstile, bool drop_remainder)
    : op_(op), turnstile_(turnstile), drop_remainder_(drop_remainder) {}

BatchLine::~BatchLine() {
  while (!batches_.empty()) pop_front();
}

BatchSlot BatchLine::claim(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (batches_.empty() || batches_.back().closed) {
    lock.unlock();  // acquire() may wait for a batch that the consumer holds
    BatchInMaking opened;
    {
      const TimeScope wait(op_.stats(), TimeScope::Book::blocked_output);
      opened.lease = op_.resources().batches->acquire(stop);
    }
    if (!opened.lease) return {};
    const BatchShape& shape = opened.lease->shape;
    opened.holes.reserve(static_cast<std::size_t>(shape.images));  // so that finish() cannot fail
    lock.lock();
    batches_.push_back(std::move(opened));
    op_.stats().bytes_held.add(static_cast<std::int64_t>(shape.bytes()));
  }
  BatchInMaking& batch = batches_.back();
  const BatchSlot slot{&batch, batch.claimed++};
  batch.closed = batch.claimed == batch.lease->shape.images;
  return slot;
}

void BatchLine::end(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!batches_.empty() && !batches_.back().closed) {
      batches_.back().closed = true;
      if (is_complete(batches_.back())) op_.stats().queue_depth.add(1);
    }
    ended_ = true;
    end_error_ = std::move(error);
  }
  changed_.notify_one();
}

void BatchLine::finish(const BatchSlot& slot, bool good) noexcept {
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    BatchInMaking& batch = *slot.batch;
    if (!good) batch.holes.push_back(slot.slot);
    ++batch.finished;
    complete = is_complete(batch);
    op_.stats().images_held.add(good ? 1 : 0);
    if (complete) op_.stats().queue_depth.add(1);
  }
  if (complete) changed_.notify_one();
}

void BatchLine::fail(const BatchSlot& slot, std::exception_ptr error) noexcept {
  {
    const std::lock_guard lock(mutex_);
    slot.batch->error = std::move(error);
  }
  finish(slot, false);
}

BatchLease BatchLine::take(const std::stop_token& stop) {
  while (BatchInMaking* front = wait_for_front(stop)) {
    settle(*front);
    BatchLease lease = pop_front();
    fill_up(*lease, stop);
    if (stop.stop_requested()) break;
    const bool whole = lease->valid == lease->shape.images || (!drop_remainder_ && lease->valid > 0);
    if (whole) return lease;
  }
  return {};
}

// Waits until the oldest batch is complete and returns it. Returns null at the end of the input and once stopped.
BatchInMaking* BatchLine::wait_for_front(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto decided = [this] { return batches_.empty() ? ended_ : is_complete(batches_.front()); };
  if (!decided()) {
    const TimeScope wait(op_.stats(), TimeScope::Book::nothing);
    changed_.wait(lock, stop, decided);
  }
  if (stop.stop_requested()) return nullptr;
  if (batches_.empty()) {
    if (end_error_) std::rethrow_exception(std::exchange(end_error_, {}));
    return nullptr;
  }
  BatchInMaking& front = batches_.front();
  if (front.error) std::rethrow_exception(std::exchange(front.error, {}));
  return &front;
}

// Fills the holes of a complete batch with its last images. This needs no lock, because no worker writes to a complete
// batch.
void BatchLine::settle(BatchInMaking& batch) {
  if (batch.settled) return;
  batch.settled = true;
  Batch& images = *batch.lease;
  std::ranges::sort(batch.holes);
  int last = batch.claimed - 1;
  std::size_t trailing = batch.holes.size();
  for (const int hole : batch.holes) {
    while (trailing > 0 && batch.holes[trailing - 1] == last) {
      --last;
      --trailing;
    }
    if (hole >= last) break;
    move_image(images, last--, images, hole);
  }
  images.valid = batch.claimed - static_cast<int>(batch.holes.size());
}

void BatchLine::move_image(Batch& from, int from_slot, Batch& to, int to_slot) {
  std::memcpy(to.image(to_slot), from.image(from_slot), from.shape.image_bytes());
  std::ranges::copy(from.label(from_slot), to.label(to_slot).begin());
  to.ids[static_cast<std::size_t>(to_slot)] = from.ids[static_cast<std::size_t>(from_slot)];
}

void BatchLine::fill_up(Batch& batch, const std::stop_token& stop) {
  while (batch.valid < batch.shape.images) {
    BatchInMaking* donor = wait_for_front(stop);
    if (donor == nullptr) return;
    settle(*donor);
    Batch& images = *donor->lease;
    while (batch.valid < batch.shape.images && images.valid > 0) {
      move_image(images, --images.valid, batch, batch.valid++);
      op_.stats().images_held.add(-1);
    }
    if (images.valid == 0) pop_front();
  }
}

// Removes the oldest batch, and subtracts it from the op's counters of held elements.
BatchLease BatchLine::pop_front() {
  BatchLease lease;
  std::size_t units = 0;
  {
    const std::lock_guard lock(mutex_);
    BatchInMaking& front = batches_.front();
    const int held = front.settled ? front.lease->valid : front.finished - static_cast<int>(front.holes.size());
    op_.stats().images_held.add(-held);
    op_.stats().bytes_held.add(-static_cast<std::int64_t>(front.lease->shape.bytes()));
    if (is_complete(front)) op_.stats().queue_depth.add(-1);
    units = static_cast<std::size_t>(front.claimed);
    lease = std::move(front.lease);
    batches_.pop_front();
  }
  turnstile_.release(units);
  return lease;
}

}  // namespace chexbench::pipeline
