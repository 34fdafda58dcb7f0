// The order in which trials are measured: an engine is built for each group of trials, the arms of the group take turns
// on it repeat by repeat, and each finished repeat goes into the journal.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/progress.hpp"
#include "bench/rank_layout.hpp"
#include "bench/second_job/second_job.hpp"
#include "bench/tuning.hpp"
#include "comm/communicator.hpp"
#include "core/errors.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Builds the engine of a group of trials from the engine's resolved name, as engine::make_engine() does.
using EngineMaker = std::function<std::unique_ptr<engine::Engine>(const std::string&, const engine::EngineConfig&)>;

struct RunOptions {
  std::string journal_path;       // empty: no journal, and no repeat is taken from one
  std::string checkpoint_folder;  // for trainings over epochs; empty: they write no checkpoints
  std::string events_folder;      // for their TensorBoard events; empty: none
  // Called for each failure to write events; the trainings continue. May be empty.
  std::function<void(const OutputError&)> on_events_failure;
  ProgressOptions progress;
  EngineMaker make_engine = engine::make_engine;
  SecondJobStarter start_second_job = [](const SecondJobRequest& request) { return bench::start_second_job(request); };
  bool allow_shared_gpu = false;  // lets several ranks use one GPU
  TuningPlan tuning;              // for "auto"
  bool warns_of_others = true;    // logs a warning if others disturb a repeat
  std::function<std::vector<engine::GpuIdentity>()> visible_gpus = engine::visible_gpus;
  // By now_s(): measuring ends at this time, with TimeIsUp (trial.hpp), even if a repeat is blocked. Only for a world
  // of one rank, because several ranks would have to agree on it.
  std::optional<double> stop_at_s;
};

// Measures every trial of `report`, which plan_report() made, and adds each repeat to it as soon as it is finished.
// Repeats that the journal contains are taken from it instead of being measured again. Only rank 0 gets results; the
// other ranks measure with it. Collective over the world. Results from before an error or a signal stay in `report`.
// @throws DataError if a data set cannot be opened or read, differs between ranks, or has too few images or patients
// for a training over epochs
// @throws DeviceError if an engine or a GPU is missing or fails, if ranks would share a GPU without allow_shared_gpu,
// or if a rank is lost
// @throws SpecError if the ranks have different trials, if a finite pipeline ends too early, or if trials that share an
// engine have different labels
// @throws OutputError if the journal, a checkpoint or a pipeline's cache cannot be written
// @throws InterruptedError if a signal arrives, or TimeIsUp
void run_trials(results::Report& report, comm::World& world, const RunOptions& options);

}  // namespace chexbench::bench
