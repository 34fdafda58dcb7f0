#include "comm/staged_reducer.hpp"

#include <utility>

#include "comm/arguments.hpp"
#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/half.hpp"

namespace chexbench::comm {

StagedReducer::StagedReducer(std::unique_ptr<Communicator> group, const spec::CommSpec& comm,
                             std::unique_ptr<DeviceCopies> copies)
    : group_(std::move(group)),
      copies_(std::move(copies)),
      host_(group_->make_reducer(comm)),
      world_(group_->world()),
      thread_([this] { work(); }) {}

StagedReducer::~StagedReducer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StagedReducer::reduce(BucketSpan bucket, ReadyEvent ready) {
  check_device_bucket(bucket, ready);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({bucket, ready});
  }
  changed_.notify_all();
}

void StagedReducer::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
  last_ = std::exchange(current_, {});
  if (error_) std::rethrow_exception(error_);
}

void StagedReducer::check() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void StagedReducer::work() {
  name_this_thread("staging");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    const bool failed = error_ != nullptr;  // after an error the ranks may disagree on the next bucket
    lock.unlock();
    ReducerTimings spent;
    std::exception_ptr error;
    try {
      if (!failed) spent = process(job);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    current_.busy_s += spent.busy_s;
    current_.reduced_bytes += spent.reduced_bytes;
    if (error) error_ = error;
    jobs_.pop_front();
    changed_.notify_all();
  }
}

ReducerTimings StagedReducer::process(const Job& job) {
  copies_->wait(job.ready);
  const double begin_s = now_s();
  const std::span<std::byte> host = copies_->host_buffer(job.bucket.bytes());
  copies_->to_host(job.bucket.data, host);
  average(host, job.bucket);
  copies_->to_device(host, job.bucket.data);
  return {.busy_s = now_s() - begin_s, .reduced_bytes = job.bucket.bytes()};
}

void StagedReducer::average(std::span<std::byte> host, const BucketSpan& bucket) {
  switch (bucket.type) {
    case FloatType::f32:
      return average(std::span(reinterpret_cast<float*>(host.data()), bucket.count));
    case FloatType::fp16:
      return average_widened(std::span(reinterpret_cast<Half*>(host.data()), bucket.count));
    case FloatType::bf16:
      return average_widened(std::span(reinterpret_cast<BFloat16*>(host.data()), bucket.count));
  }
}

template <typename T>
void StagedReducer::average_widened(std::span<T> values) {
  widened_.resize(values.size());
  widen(values, widened_);
  average(widened_);
  narrow(widened_, values);
}

void StagedReducer::average(std::span<float> values) {
  host_->reduce({values.data(), values.size()}, nullptr);
  host_->wait();
}

}  // namespace chexbench::comm
