// The interface of an engine: one replica of the model on one device. cuda/ trains on NVIDIA GPUs and onednn/ on CPUs;
// emulated/ takes the time of a device without doing its arithmetic; none/ drops batches. bench/trial.cpp drives an
// engine through its steps; the rest of bench/ uses it for the selftest, for validation and for checkpoints.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/allocator.hpp"
#include "core/batch.hpp"
#include "core/reducer.hpp"
#include "engine/step_parts.hpp"
#include "measure/step_timings.hpp"
#include "model/weights.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine {

struct EngineKind;  // registry.hpp
class EpochTraining;

using model::TensorInfo;
using model::WeightSource;

// An engine's description of itself, for the reports.
struct EngineTraits {
  std::string name;                // As in the spec: cuda, onednn, none, emulated:v100.
  std::string device;              // The computing device, in words.
  std::string source;              // Emulated engines: where the profile's times come from.
  std::vector<std::string> notes;  // For every output, e.g. "batch 64 scaled linearly to 16".
  bool emulated = false;
  bool step_time_computed = false;  // Emulated engines: the profile's time was computed, not measured.
  bool trains = true;               // The engine has weights, gradients and a loss.
  std::string gpu_uuid;             // "GPU-..." of the GPU that computes; empty if none does.
};

// Not thread-safe: one thread must call all functions.
// @throws DeviceError from any function if the device fails
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const EngineTraits& traits() const = 0;
  // Returns the allocator for the pipeline's batches. It is valid as long as the engine.
  virtual PinnedAllocator& allocator() = 0;

  // Runs one batch through upload, forward and backward, passes each complete bucket of gradients to `reducer`, and
  // updates the weights. With training.accumulate_steps = n, n calls form one step, and only the last of them reduces
  // and updates. The call may return before the device has finished, but the host runs at most one step ahead of the
  // device. The lease ends when the upload is done. The reducer must outlive the engine, which may keep the reducer's
  // work in a CUDA graph.
  // @throws SpecError if the batch has another shape than the engine was built for, or valid < images (none/ accepts
  // that)
  // @throws DeviceError if the device fails, another rank is lost, or (cuda) the loss or the gradients are not finite
  virtual void step(BatchLease batch, Reducer& reducer) = 0;
  // Waits until all steps that were begun are finished.
  virtual void finish() = 0;
  // Times of the last finished step. timings() and steps_finished() change only inside step() and finish(), and by at
  // most one step per call, so a caller who looks after each call sees every step.
  virtual const measure::StepTimings& timings() const = 0;
  // Number of steps finished since construction or restart().
  virtual std::int64_t steps_finished() const = 0;
  // Prepares another repeat: restores the initial weights and buffers and resets moments, clocks and counters.
  virtual void restart() = 0;

  // How long the ops of each kind took in the steps since construction or restart(); empty if the engine does not time
  // them.
  virtual std::vector<OpTime> op_times() const { return {}; }

  // Bytes of host memory that the engine holds (weights, activations, workspaces), for the memory forecast.
  virtual std::size_t held_bytes() const = 0;

  // Access to weights, for checkpoints, selftest and tests. An engine with traits().trains == false has no tensors: its
  // lists are empty, and reading one throws DeviceError.
  virtual std::vector<TensorInfo> parameters() const = 0;
  virtual std::vector<TensorInfo> buffers() const = 0;  // Running means and variances.
  // Replaces parameters and buffers by those of `source` and restarts; restart() restores them from then on.
  // @throws any exception of `source`
  virtual void load_weights(const WeightSource& source) = 0;
  // Copies one tensor into `values`, TensorInfo::count() floats in PyTorch's order.
  // @throws SpecError if no tensor has that name (the message names the nearest), or if `values` has another size
  virtual void read_parameter(const std::string& name, std::span<float> values) const = 0;
  virtual void read_gradient(const std::string& name,
                             std::span<float> values) const = 0;  // Of the last step, not clipped.
  virtual void read_buffer(const std::string& name, std::span<float> values) const = 0;
  virtual std::span<const float> logits() const = 0;  // [batch, outputs] of the last batch.

  // Returns the operations that a training over epochs needs (training_engine.hpp), or null if the engine does not
  // train. The pointer is valid as long as the engine.
  virtual EpochTraining* epoch_training() { return nullptr; }
};

// How plans for convolutions are chosen by engines that have a choice (cuda/), for comparisons of an engine's results.
struct PlanChoice {
  std::optional<int> candidates;  // The number of plans that are timed for each convolution; empty: as for a training.
  bool forces_fused = false;      // Takes fused plans wherever they run, even if they are slower.
};

// The parts of the spec, and of the process's place in the run, that an engine is built from.
struct EngineConfig {
  spec::ModelSpec model;
  spec::TrainingSpec training;
  spec::CommSpec comm;
  Deliver deliver = Deliver::f32;
  int outputs = kNihLabels;  // Outputs of the network: the number of labels of an image.
  // Evaluation gives class activation maps, [outputs, rows, columns], instead of logits (model/networks.hpp). onednn/
  // only, which then takes no steps.
  bool class_maps = false;
  // The weight of each output in the loss (training_engine.hpp); empty: all equal. `training` has the rest of the loss.
  std::vector<float> class_weights;
  std::vector<int> cores;  // CPU cores to compute on; if empty, one thread without binding.
  int world = 1;           // Number of ranks.
  int rank = 0;            // Rank of this process; dropout differs between ranks.
  int gpu = 0;             // CUDA device index within this process; used by cuda/ only.
  PlanChoice plan_choice;
  double slowdown = 1;  // emulated/ only: how many times slower the device, and the links of `comm`, become.
};

// Builds the engine with that name: auto, cuda, onednn, none or emulated:<profile>. Engines that train take seconds,
// cuda/ up to minutes if it has to time convolutions.
// @throws SpecError if the name is unknown (the message names the nearest) or the spec does not suit the engine
// @throws DataError if the weights file cannot be read or does not fit the network
// @throws DeviceError if this machine or this build lacks a requirement of the engine
std::unique_ptr<Engine> make_engine(const std::string& name, const EngineConfig& config);

// Returns whether the engine of that (resolved) name keeps gradients in device memory, on the GPU EngineConfig::gpu.
bool computes_on_gpu(const std::string& name);

// Returns the engine that `auto` stands for on this build and machine, and other names unchanged. Builds nothing, so it
// does not check whether this machine can run `cuda`, nor whether the profile of `emulated:<profile>` exists.
// @throws SpecError if the name is unknown (the message names the nearest)
// @throws DeviceError if `auto` or `onednn` finds no engine in this build
std::string resolve_engine_name(const std::string& name);

}  // namespace chexbench::engine
