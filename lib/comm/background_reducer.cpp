#include "comm/background_reducer.hpp"

#include <memory>
#include <utility>

#include "comm/arguments.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "measure/trace.hpp"

namespace chexbench::comm {
namespace {

// While another rank is late, a bucket is polled at least once per millisecond, because a longer nap would add to the
// exposed communication.
constexpr double kLongestNapS = 1e-3;

void trace(double begin_s, double end_s, std::size_t bytes) {
  if (!measure::is_tracing()) return;
  measure::record_span({.name = "bucket",
                        .kind = measure::SpanKind::bucket,
                        .begin_s = begin_s,
                        .end_s = end_s,
                        .detail = static_cast<std::int64_t>(bytes)});
}

}  // namespace

BackgroundReducer::BackgroundReducer(CommThread& thread, const void* lane, int world, MakeAverage make_average,
                                     std::size_t value_bytes)
    : thread_(thread), lane_(lane), world_(world), make_average_(std::move(make_average)), value_bytes_(value_bytes) {}

BackgroundReducer::~BackgroundReducer() {
  std::unique_lock lock(mutex_);
  completed_.wait(lock, [this] { return pending_ == 0; });
}

void BackgroundReducer::reduce(BucketSpan bucket, ReadyEvent ready) {
  check_bucket(bucket);
  if (ready != nullptr) throw DeviceError("comm: buckets in device memory cannot be averaged over MPI in host memory");
  const auto begin_s = std::make_shared<double>(0);
  Operation operation{.lane = lane_,
                      .longest_nap_s = kLongestNapS,
                      .poll =
                          [begin_s, average = make_average_(bucket.floats())] {
                            if (*begin_s == 0) *begin_s = now_s();
                            return average();
                          },
                      .done = [this, begin_s, bytes = bucket.count * value_bytes_](
                                  const std::exception_ptr& error) { complete(*begin_s, bytes, error); }};
  const std::lock_guard lock(mutex_);
  thread_.submit(std::move(operation));
  ++pending_;  // last: an operation that submit() did not accept will never complete
}

void BackgroundReducer::complete(double begin_s, std::size_t bytes, std::exception_ptr error) {
  const double end_s = now_s();
  try {
    if (begin_s > 0) trace(begin_s, end_s, bytes);
  } catch (...) {  // out of memory: wait() must not wait for this bucket for ever
    if (!error) error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  current_.busy_s += end_s - begin_s;
  current_.reduced_bytes += bytes;
  if (error && !error_) error_ = std::move(error);
  --pending_;
  completed_.notify_all();  // under the lock: the reducer may be destroyed as soon as it is released
}

void BackgroundReducer::wait() {
  std::unique_lock lock(mutex_);
  completed_.wait(lock, [this] { return pending_ == 0; });
  last_ = std::exchange(current_, {});
  if (error_) std::rethrow_exception(error_);
}

void BackgroundReducer::meet() {
  float nothing = 0;
  thread_.run(lane_, kLongestNapS, make_average_({&nothing, 1}));
}

}  // namespace chexbench::comm
