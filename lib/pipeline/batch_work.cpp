#include "pipeline/batch_work.hpp"

#include <exception>
#include <type_traits>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::pipeline {

BatchWorkIterator::BatchWorkIterator(Op& op, const MakeTake& make_take, const BatchWork& work, LoaderSet& loaders,
                                     ThreadPool& pool, const std::stop_token& stop)
    : Iterator(op, stop, Delay::in_threads),
      work_(work),
      loaders_(loaders),
      chain_(stop),
      turnstile_(work.batches * static_cast<std::size_t>(op.context().shape.images), op.stats()),
      line_(op, turnstile_, work.drop_remainder),
      take_(make_take(chain_.token())),
      crew_(std::in_place, pool, loaders.size(), [this](std::size_t i) { this->work(i); }) {}

BatchWorkIterator::~BatchWorkIterator() {
  chain_.request_stop();
  crew_.reset();
}

bool BatchWorkIterator::produce(Element& out) {
  const auto depth = static_cast<std::int64_t>(op_.stats().queue_depth.value());
  BatchLease batch = line_.take(stop_);
  if (!batch) return false;
  op_.stats().queue_depth_sum.add(depth);
  out.epoch = batch->ids.front().epoch;
  out.value = std::move(batch);
  return true;
}

void BatchWorkIterator::work(std::size_t worker) {
  const TimeScope scope(op_.stats(), TimeScope::Book::busy);
  std::vector<Task> tasks;
  while (turnstile_.enter(chain_.token())) {
    take_tasks(tasks);
    for (const Task& task : tasks) fill(task, worker);
    tasks.clear();
  }
}

// Fills `tasks`, which is empty, with the records that a worker takes at once; with fewer at the end of the input.
void BatchWorkIterator::take_tasks(std::vector<Task>& tasks) {
  static_assert(std::is_nothrow_move_constructible_v<Task>);
  bool ended = false;
  try {
    tasks.reserve(work_.records_at_once);  // early: a claimed slot in no task would never be finished
    while (!ended && tasks.size() < work_.records_at_once) {
      Task task;
      ended = !take_task(task);
      if (!ended) tasks.push_back(std::move(task));
    }
    if (ended) line_.end();
  } catch (...) {
    ended = true;
    line_.end(std::current_exception());
  }
  turnstile_.leave(tasks.size(), ended);
}

bool BatchWorkIterator::take_task(Task& task) {
  if (!take_(task.record)) return false;
  task.slot = line_.claim(chain_.token());
  return task.slot.batch != nullptr;
}

void BatchWorkIterator::fill(const Task& task, std::size_t worker) {
  const TimeScope scope(op_.stats(), TimeScope::Book::busy);  // so time is booked image by image, not at the next wait
  bool good = false;
  try {
    if (!chain_.token().stop_requested()) good = load(task, worker);
  } catch (...) {
    return line_.fail(task.slot, std::current_exception());
  }
  line_.finish(task.slot, good);
}

// Returns false if the record was bad and is skipped.
bool BatchWorkIterator::load(const Task& task, std::size_t worker) {
  Batch& batch = *task.slot.batch->lease;
  const int slot = task.slot.slot;
  try {
    const auto loaded =
        loaders_.of(worker).load(std::get<Record>(task.record.value), task.record.epoch, batch.image(slot));
    batch.ids[static_cast<std::size_t>(slot)] = loaded.id;
    expand_labels(loaded.labels, batch.label(slot));
  } catch (const DataError& error) {
    op_.decoding().bad(error);
    return false;
  }
  op_.decoding().good();
  op_.delay(chain_.token());
  return true;
}

std::size_t batches_in_making(const BatchWork& work, std::size_t workers, int images_per_batch) {
  const auto per_batch = static_cast<std::size_t>(images_per_batch);
  return std::min(work.batches, 1 + (workers + per_batch - 2) / per_batch);
}

std::size_t batches_in_work(const Op& op, std::size_t batches) { return batches + (op.skips_bad_records() ? 1 : 0); }

}  // namespace chexbench::pipeline
