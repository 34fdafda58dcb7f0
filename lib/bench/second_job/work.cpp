#include "bench/second_job/work.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "bench/opened_datasets.hpp"
#include "bench/provenance.hpp"
#include "bench/second_job/contention.hpp"
#include "bench/training/validation.hpp"
#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "measure/page_cache.hpp"
#include "measure/system_files.hpp"
#include "pipeline/pipeline.hpp"
#include "spec/keys.hpp"

namespace chexbench::bench {
namespace {

// The first batches include one-time setup; later ones are typical. On CPUs, each training batch takes seconds.
constexpr int kReadyBatches = 3;

// bind_this_thread() only warns; a second job on other cores would measure something else.
void bind_to(const std::vector<int>& cores) {
  bind_this_thread(cores);
  std::vector<int> asked = cores;
  std::ranges::sort(asked);
  const std::vector<int> bound = usable_cpus();
  if (bound == asked) return;
  throw DeviceError(fmt::format("it cannot be bound to CPUs {}, only to {}", measure::cpu_list_text(asked),
                                measure::cpu_list_text(bound)));
}

// The trial's own files were prepared by the trial.
void prepare_files(const spec::TrialSpec& trial, const spec::TrialSpec& own, const dataset::Dataset& images) {
  if (own.data.root == trial.data.root || !images.store->is_local()) return;
  measure::prepare_page_cache(trial.measure.page_cache, paths_of(images));
}

// Delivers batches to an engine until an error ends it. Engine none drops them.
[[noreturn]] void run_batches(const spec::TrialSpec& trial, const std::vector<int>& cores,
                              SecondJobCounters& counters) {
  const spec::TrialSpec own = second_job_trial(trial);
  const dataset::Dataset images = dataset::open_dataset(own.data, pixels_of(own));
  prepare_files(trial, own, images);
  const auto reducer = comm::make_single_reducer();
  const auto engine = engine::make_engine(own.engine, {.model = own.model,
                                                       .training = own.training,
                                                       .comm = own.comm,
                                                       .deliver = spec::delivered(own.data),
                                                       .outputs = images.labels(),
                                                       .class_weights = class_weights(own, images),
                                                       .cores = cores,
                                                       .plan_choice = {}});
  for (int pass = 0;; ++pass) {  // more than one if the pipeline does not repeat its images
    const auto pipeline = pipeline::make_pipeline(
        make_pipeline_context(own, images, engine->allocator(), {.cores = cores, .repeat = pass}));
    for (int batches = 1;; ++batches) {
      BatchLease batch = pipeline->next();
      if (!batch) break;
      throw_if_interrupted();
      const auto delivered = static_cast<std::uint64_t>(batch->valid);
      engine->step(std::move(batch), *reducer);
      counters.images += delivered;
      if (batches == kReadyBatches) counters.ready = true;
    }
    counters.ready = true;
  }
}

}  // namespace

spec::TrialSpec second_job_trial(const spec::TrialSpec& trial) {
  const spec::SecondJobSpec& job = trial.second_job;
  spec::TrialSpec own = trial;
  own.second_job = {};
  own.ranks = 1;
  own.engine = spec::second_job_trains(job) ? job.engine : "none";
  own.measure.seed = trial.measure.seed + 1;  // another order of images, so that the jobs do not run in lockstep
  own.data.root = spec::second_job_root(trial);
  if (job.kind == spec::SecondJobKind::training) own.data.format = spec::DataFormat::synthetic;
  // GPU precisions apply only to emulated engines; a CPU trains in f32 or bf16.
  const bool on_cpu = own.engine == "onednn";
  if (on_cpu && own.training.precision != spec::Precision::bf16) own.training.precision = spec::Precision::f32;
  return own;
}

void run_second_job(const spec::TrialSpec& trial, const std::vector<int>& cores, SecondJobCounters& counters) {
  bind_to(cores);
  const auto files = [&trial] {
    spec::DataSpec data = trial.data;
    data.root = spec::second_job_root(trial);
    return paths_of(dataset::open_dataset(data, pixels_of(trial)));
  };
  switch (trial.second_job.kind) {
    case spec::SecondJobKind::memory:
      stream_memory(cores, counters);
    case spec::SecondJobKind::page_cache:
      drop_from_page_cache(files(), counters);
    case spec::SecondJobKind::storage:
      read_from_storage(files(), counters);
    default:
      run_batches(trial, cores, counters);
  }
}

void end_with(int control) {
  std::thread([control] {
    char byte = 0;
    while (read(control, &byte, 1) > 0 || errno == EINTR) errno = 0;
    _exit(0);
  }).detach();
}

}  // namespace chexbench::bench
