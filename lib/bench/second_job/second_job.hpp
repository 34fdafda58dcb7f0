// A job that runs alongside a trial on the same host, as set by second_job in its spec: a process of this program,
// because two jobs on a host share no heap, thread pool or page tables. It is ready before the trial's steps begin and
// gone when the repeat ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/rank_layout.hpp"
#include "bench/step_observer.hpp"
#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// The progress of the job.
struct SecondJobSample {
  double time_s = 0;  // by now_s()
  std::uint64_t images = 0;
  std::uint64_t bytes = 0;
  double cpu_s = 0;  // of all its threads
};

// A running job, which ends with this object. Not thread-safe.
class SecondJob {
 public:
  virtual ~SecondJob() = default;
  // Returns once it is working. sample() returns its progress.
  // @throws the error that ended it, with its last messages: SpecError, DataError, else DeviceError
  // @throws InterruptedError after a signal
  virtual void wait_until_ready() = 0;
  virtual SecondJobSample sample() = 0;  // @throws as wait_until_ready() if it has ended
};

struct SecondJobRequest {
  const spec::TrialSpec& trial;  // as it runs
  std::vector<int> cores;        // of the second job
};
using SecondJobStarter = std::function<std::unique_ptr<SecondJob>(const SecondJobRequest&)>;

// Starts this program again, as the hidden command `second-job`. `program` is for tests.
// @throws DeviceError if the system does not start it
std::unique_ptr<SecondJob> start_second_job(const SecondJobRequest& request,
                                            const std::string& program = "/proc/self/exe");

// A job counts whole batches, so its rate is empty if fewer than this many ended in a window.
inline constexpr int kFewestSecondBatches = 5;

// Returns the observer that measures the job of `trial`, which must outlive it, in the trial's window, and ends the
// repeat if the job ends.
std::unique_ptr<StepObserver> measure_second_job(SecondJob& job, const spec::TrialSpec& trial);

// Lets the job run alone for as long as the trial's window took, and adds its rates to the result.
// @throws as SecondJob::sample(), and InterruptedError after a signal
void measure_alone(SecondJob& job, const spec::TrialSpec& trial, results::RepeatResult& result);

// Returns the CPUs for the second job of a trial of `ranks` ranks on the host of rank `rank`. `existing` are the CPUs
// that this process may be bound to. A pure function.
// @throws SpecError if the spec asks for other CPUs, or for separate cores while the ranks use all
std::vector<int> second_job_cores(const std::vector<RankCores>& rank_cores, std::size_t rank,
                                  const spec::TrialSpec& spec, int ranks, const std::vector<int>& existing);

}  // namespace chexbench::bench
