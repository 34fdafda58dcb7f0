#include "comm/nccl/bucket_clock.hpp"

namespace chexbench::comm::nccl {
namespace {

// Empty where one of them is not recorded yet, or is under way: that is no error, and no later call must take it for
// one.
std::optional<float> elapsed_ms(const Event& from, const Event& to) {
  float ms = 0;
  if (cudaEventElapsedTime(&ms, from.get(), to.get()) == cudaSuccess) return ms;
  static_cast<void>(cudaGetLastError());
  return {};
}

}  // namespace

BucketClock::BucketClock(cudaStream_t stream) : stream_(stream), epoch_(cudaEventDefault), steps_(2) {
  check(cudaEventRecord(epoch_.get(), stream_), "cudaEventRecord");
}

BucketClock::Step& BucketClock::begin_step(bool captured) {
  if (captured) {
    steps_.push_back({.captured = true});
    return steps_.back();
  }
  Step& step = steps_[static_cast<std::size_t>(eager_steps_++ % 2)];
  step.buckets = 0;
  step.bytes = 0;
  return step;
}

void BucketClock::begin_bucket() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_, &status), "cudaStreamIsCapturing");
  const bool captured = status == cudaStreamCaptureStatusActive;
  // A capture that failed leaves a step without an end.
  if (current_ == nullptr || current_->captured != captured) current_ = &begin_step(captured);
  if (current_->buckets == current_->ends.size()) {
    current_->begins.emplace_back(cudaEventDefault);
    current_->ends.emplace_back(cudaEventDefault);
  }
  record(current_->begins[current_->buckets]);
}

void BucketClock::end_bucket(std::uint64_t bytes) {
  record(current_->ends[current_->buckets++]);
  current_->bytes += bytes;
}

void BucketClock::record(const Event& event) const {
  // A plain record inside a capture is only an edge of the graph, and tells no time.
  const unsigned flags = current_->captured ? cudaEventRecordExternal : cudaEventRecordDefault;
  check(cudaEventRecordWithFlags(event.get(), stream_, flags), "cudaEventRecordWithFlags");
}

std::optional<BucketClock::Finished> BucketClock::read(const Step& step) const {
  if (step.buckets == 0) return {};
  Finished finished{.timings = {.reduced_bytes = step.bytes}};
  for (std::size_t i = 0; i < step.buckets; ++i) {
    const std::optional<float> ms = elapsed_ms(step.begins[i], step.ends[i]);
    if (!ms || *ms <= 0) return {};  // the next replay has begun, and recorded one of the two
    finished.timings.busy_s += 1e-3 * static_cast<double>(*ms);
  }
  const std::optional<float> at_ms = elapsed_ms(epoch_, step.ends[step.buckets - 1]);
  if (!at_ms) return {};
  finished.at_ms = *at_ms;
  return finished;
}

ReducerTimings BucketClock::last() const {
  for (const Step& step : steps_) {
    const std::optional<Finished> finished = &step != current_ ? read(step) : std::nullopt;
    if (finished && finished->at_ms >= last_.at_ms) last_ = *finished;
  }
  return last_.timings;
}

}  // namespace chexbench::comm::nccl
