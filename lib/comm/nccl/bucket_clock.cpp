#include "comm/nccl/bucket_clock.hpp"

#include <algorithm>
#include <numeric>

#include "core/clock.hpp"

namespace chexbench::comm::nccl {
namespace {

// Returns std::nullopt if one of the events is not recorded yet or has not happened yet. That is not an error, so
// CUDA's error state is cleared, or a later call would report it.
std::optional<float> elapsed_ms(const Event& from, const Event& to) {
  float ms = 0;
  if (cudaEventElapsedTime(&ms, from.get(), to.get()) == cudaSuccess) return ms;
  static_cast<void>(cudaGetLastError());
  return {};
}

}  // namespace

BucketClock::BucketClock(cudaStream_t stream) : stream_(stream), epoch_(cudaEventDefault), steps_(2) {
  check(cudaEventRecord(epoch_.get(), stream_), "cudaEventRecord");
  check(cudaEventSynchronize(epoch_.get()), "cudaEventSynchronize");
  epoch_s_ = now_s();
}

BucketClock::Step& BucketClock::begin_step(bool captured) {
  if (captured) {
    steps_.push_back({.captured = true});
    return steps_.back();
  }
  Step& step = steps_[static_cast<std::size_t>(eager_steps_++ % 2)];
  step.buckets = 0;
  step.bytes.clear();
  return step;
}

void BucketClock::begin_bucket() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream_, &status), "cudaStreamIsCapturing");
  const bool captured = status == cudaStreamCaptureStatusActive;
  // After a capture that failed, current_ is a step that never ended.
  if (current_ == nullptr || current_->captured != captured) current_ = &begin_step(captured);
  if (current_->buckets == current_->ends.size()) {
    current_->begins.emplace_back(cudaEventDefault);
    current_->ends.emplace_back(cudaEventDefault);
  }
  record(current_->begins[current_->buckets]);
}

void BucketClock::end_bucket(std::uint64_t bytes) {
  record(current_->ends[current_->buckets++]);
  current_->bytes.push_back(bytes);
}

void BucketClock::record(const Event& event) const {
  // A plain record inside a capture is only an edge of the graph and takes no time stamp.
  const unsigned flags = current_->captured ? cudaEventRecordExternal : cudaEventRecordDefault;
  check(cudaEventRecordWithFlags(event.get(), stream_, flags), "cudaEventRecordWithFlags");
}

std::optional<BucketClock::Finished> BucketClock::read(const Step& step) const {
  if (step.buckets == 0) return {};
  Finished finished{.step = &step};
  finished.timings.reduced_bytes = std::accumulate(step.bytes.begin(), step.bytes.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < step.buckets; ++i) {
    const std::optional<float> ms = elapsed_ms(step.begins[i], step.ends[i]);
    if (!ms || *ms <= 0) return {};  // the next replay has begun and has recorded one of the two
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

std::vector<BucketTime> BucketClock::take() {
  std::vector<Finished> ended;
  for (const Step& step : steps_) {
    const std::optional<Finished> finished = &step != current_ ? read(step) : std::nullopt;
    if (finished && finished->at_ms > taken_until_ms_) ended.push_back(*finished);
  }
  std::ranges::sort(ended, {}, &Finished::at_ms);
  std::vector<BucketTime> times;
  for (const Finished& finished : ended) append(*finished.step, times);
  if (!ended.empty()) taken_until_ms_ = ended.back().at_ms;
  return times;
}

// CUDA returns the milliseconds since epoch_ as a float, with a resolution of only 0.06 ms after a quarter of an
// hour. This must not make buckets overlap.
void BucketClock::append(const Step& step, std::vector<BucketTime>& times) const {
  double before_s = times.empty() ? epoch_s_ + 1e-3 * static_cast<double>(taken_until_ms_) : times.back().end_s;
  for (std::size_t i = 0; i < step.buckets; ++i) {
    const std::optional<float> begin_ms = elapsed_ms(epoch_, step.begins[i]);
    const std::optional<float> ms = elapsed_ms(step.begins[i], step.ends[i]);
    if (!begin_ms || !ms || *ms <= 0) return;  // the next replay has begun
    const double begin_s = epoch_s_ + 1e-3 * static_cast<double>(*begin_ms);
    times.push_back({.begin_s = std::max(begin_s, before_s),
                     .end_s = std::max(begin_s + 1e-3 * static_cast<double>(*ms), before_s),
                     .bytes = step.bytes[i]});
    before_s = times.back().end_s;
  }
}

}  // namespace chexbench::comm::nccl
