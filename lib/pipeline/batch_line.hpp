// Batches in the making, filled by several threads in any order, delivered in theirs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

#include "pipeline/op.hpp"
#include "pipeline/turnstile.hpp"

namespace chexbench::pipeline {

// One batch in the making. Workers write to distinct slots of `lease` without a lock; the rest belongs to BatchLine.
struct BatchInMaking {
  BatchLease lease;
  int claimed = 0;         // slots given out
  int finished = 0;        // of those, good or bad
  bool closed = false;     // no more will be given out
  bool settled = false;    // holes are gone: images 0..valid-1 are good
  std::vector<int> holes;  // slots whose record was bad
  std::exception_ptr error;
};

// Where a worker puts a record's image.
struct BatchSlot {
  BatchInMaking* batch = nullptr;
  int slot = 0;
};

// One thread at a time claims (behind the turnstile), any finish, one consumer takes. A batch with holes is filled up
// with the last images of the batch behind it, so it stays full, and the result depends on the input's order alone, not
// on timing. That needs room for two batches.
class BatchLine {
 public:
  // A unit of `turnstile` is a slot: those of a batch are released when it is delivered or used up.
  BatchLine(Op& op, Turnstile& turnstile, bool drop_remainder);
  ~BatchLine();
  BatchLine(const BatchLine&) = delete;
  BatchLine& operator=(const BatchLine&) = delete;

  // Claiming: the next slot; opens a batch where the last one is full. A null batch once stopped.
  BatchSlot claim(const std::stop_token& stop);
  // Claiming: the input has ended; `error` is thrown by take() behind all that was claimed.
  void end(std::exception_ptr error = {});
  // Any worker: the slot's image is written (good) or its record is skipped.
  void finish(const BatchSlot& slot, bool good);
  // Any worker: its batch will throw `error` when its turn comes.
  void fail(const BatchSlot& slot, std::exception_ptr error);

  // Consumer: the next batch; waits for it. Empty at the end or once stopped. @throws the error of its batch
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
