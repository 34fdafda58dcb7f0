// Writes into a trial's result what it runs on: its engine, its cores, its scale model and its GPU.
#pragma once

#include "bench/core_layout.hpp"
#include "bench/gpu_layout.hpp"
#include "bench/scale_model.hpp"
#include "core/reducer.hpp"
#include "engine/engine.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

void describe_engine(results::TrialResult& trial, const engine::EngineTraits& traits, const CoreShare& share);
// Comes after describe_engine(), of which it replaces the cores.
void describe_scale(results::TrialResult& trial, const ScaleModel& scale);
void describe_gpus(results::TrialResult& trial, const GpuShare& share, const Reducer& reducer);

}  // namespace chexbench::bench
