// The batches that map_and_batch and worker_batches are filling: several threads fill them in any order, and they are
// delivered in the order of the input.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "pipeline/op.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline {

// A batch that is being filled. Workers write to distinct slots of `lease` without a lock; BatchLine's mutex protects
// the other members.
struct BatchInMaking {
  BatchLease lease;
  int claimed = 0;         // slots given to workers
  int finished = 0;        // claimed slots that are done, whether the record was good or bad
  bool closed = false;     // no more slots will be given out
  bool settled = false;    // the holes are closed: images 0..valid-1 are good
  std::vector<int> holes;  // slots whose record was bad
  std::exception_ptr error;
};

// Where a worker writes the image of a record.
struct BatchSlot {
  BatchInMaking* batch = nullptr;
  int slot = 0;
};

// One thread at a time may claim slots (the one inside the turnstile), any thread may finish them, and one consumer
// takes batches. Slots of bad records are holes: a batch with holes is filled up with the last images of the batch
// that follows it. So batches stay full, and the result depends only on the order of the input, not on timing. Filling
// up needs room for two batches.
class BatchLine {
 public:
  // One unit of `turnstile` is one slot. The slots of a batch are released when the batch is delivered or used up.
  // `op` and `turnstile` must outlive this object.
  BatchLine(Op& op, Turnstile& turnstile, bool drop_remainder);
  ~BatchLine();
  BatchLine(const BatchLine&) = delete;
  BatchLine& operator=(const BatchLine&) = delete;

  // For the claiming thread. Returns the next slot; if the last batch is full, opens a new one, which may wait until
  // the pool has one. The slot's batch is null once stopped.
  // @throws std::bad_alloc or DeviceError if the pool cannot allocate the batch
  BatchSlot claim(const std::stop_token& stop);
  // For the claiming thread. Reports that the input has ended. take() throws `error`, if there is one, after it has
  // delivered everything that was claimed.
  void end(std::exception_ptr error = {});
  // For any worker. Reports that the slot's image is written (`good`) or that its record is skipped.
  void finish(const BatchSlot& slot, bool good) noexcept;
  // For any worker. take() will throw `error` instead of delivering the batch of this slot.
  void fail(const BatchSlot& slot, std::exception_ptr error) noexcept;

  // For the consumer. Waits for the next batch and returns it. The lease is empty at the end of the input and once
  // stopped. @throws the error that was passed to fail() for this batch, or to end()
  BatchLease take(const std::stop_token& stop);

 private:
  BatchInMaking* wait_for_front(const std::stop_token& stop);
  void settle(BatchInMaking& batch);
  void move_image(Batch& from, int from_slot, Batch& to, int to_slot);
  void fill_up(Batch& batch, const std::stop_token& stop);
  BatchLease pop_front();

  Op& op_;
  Turnstile& turnstile_;
  const bool drop_remainder_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<BatchInMaking> batches_;
  bool ended_ = false;
  std::exception_ptr end_error_;
};

}  // namespace chexbench::pipeline
