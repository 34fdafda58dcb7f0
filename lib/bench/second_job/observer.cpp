#include <algorithm>

#include "bench/second_job/second_job.hpp"
#include "core/clock.hpp"
#include "core/interrupt.hpp"

namespace chexbench::bench {
namespace {

// The window alone is at least so long, because a job delivers whole batches: a few of them give no rate.
constexpr double kShortestAlone_s = 0.5;
// For what the trial's threads still do after its last step.
constexpr double kSettle_s = 0.1;

struct Rates {
  std::optional<double> images_per_s, bytes_per_s;
};

Rates rates(const spec::TrialSpec& trial, const SecondJobSample& begin, const SecondJobSample& end) {
  const double span_s = end.time_s - begin.time_s;
  Rates rates;
  if (span_s <= 0) return rates;
  const std::uint64_t images = end.images - begin.images;
  const auto fewest =
      static_cast<std::uint64_t>(kFewestSecondBatches) * static_cast<std::uint64_t>(trial.training.batch_size);
  if (images >= fewest) rates.images_per_s = static_cast<double>(images) / span_s;
  if (end.bytes > 0) rates.bytes_per_s = static_cast<double>(end.bytes - begin.bytes) / span_s;
  return rates;
}

class SecondJobObserver final : public StepObserver {
 public:
  SecondJobObserver(SecondJob& job, const spec::TrialSpec& trial) : job_(job), trial_(trial) {}

  void begin_steps() override { begin_ = job_.sample(); }
  void after_step(std::int64_t step, Recorder&) override {
    const SecondJobSample sample = job_.sample();  // also notices that it has ended
    if (step + 1 == trial_.measure.warmup_steps) begin_ = sample;
  }
  void end_repeat(results::RepeatResult& result) override {
    const SecondJobSample end = job_.sample();
    const Rates beside = rates(trial_, begin_, end);
    result.second_job.images_per_s = beside.images_per_s;
    result.second_job.bytes_per_s = beside.bytes_per_s;
    result.second_job.cpu_s = end.cpu_s - begin_.cpu_s;
    result.second_job.span_s = end.time_s - begin_.time_s;
  }

 private:
  SecondJob& job_;
  const spec::TrialSpec& trial_;
  SecondJobSample begin_;
};

void sleep_interruptibly(double seconds) {
  constexpr double kNap_s = 0.05;
  for (const double end_s = now_s() + seconds; now_s() < end_s;) {
    throw_if_interrupted();
    sleep_until_s(std::min(end_s, now_s() + kNap_s));
  }
}

}  // namespace

std::unique_ptr<StepObserver> measure_second_job(SecondJob& job, const spec::TrialSpec& trial) {
  return std::make_unique<SecondJobObserver>(job, trial);
}

void measure_alone(SecondJob& job, const spec::TrialSpec& trial, results::RepeatResult& result) {
  if (trial.second_job.kind == spec::SecondJobKind::page_cache) return;  // it has no work of its own to lose
  sleep_interruptibly(kSettle_s);
  const SecondJobSample begin = job.sample();
  sleep_interruptibly(std::max(result.second_job.span_s, kShortestAlone_s));
  const Rates alone = rates(trial, begin, job.sample());
  result.second_job.alone_images_per_s = alone.images_per_s;
  result.second_job.alone_bytes_per_s = alone.bytes_per_s;
}

}  // namespace chexbench::bench
