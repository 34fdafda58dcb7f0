// How trials are measured: engines before pipelines, arms of one engine in turn, repeat by repeat, each into the
// journal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu_layout.hpp"
#include "comm/communicator.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Builds the engine of a group of trials, as engine::make_engine() does.
using EngineMaker = std::function<std::unique_ptr<engine::Engine>(const std::string&, const engine::EngineConfig&)>;

struct RunOptions {
  std::string journal_path;       // empty: no journal
  std::string checkpoint_folder;  // of trainings over epochs; empty: they write none
  bool show_progress = false;
  EngineMaker make_engine = engine::make_engine;
  bool allow_shared_gpu = false;  // two ranks on one
  std::function<std::vector<engine::GpuIdentity>()> visible_gpus = engine::visible_gpus;
};

// Measures every trial of `report`, and adds repeats to it as they are done (on rank 0; the other ranks measure with
// it and get no results). Repeats that the journal holds are taken over. Collective over the world.
// What was measured before an error or a signal stays in `report`.
// @throws DataError, DeviceError, SpecError, OutputError, InterruptedError
void run_trials(results::Report& report, comm::World& world, const RunOptions& options);

}  // namespace chexbench::bench
