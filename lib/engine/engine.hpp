// An engine: one replica of the model on one accelerator. onednn/ computes on CPUs, emulated/ takes a device's time
// without its arithmetic, none/ drops batches. The trial loop (bench/trial.cpp) is the only caller.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/allocator.hpp"
#include "core/batch.hpp"
#include "core/reducer.hpp"
#include "measure/step_timings.hpp"
#include "model/tensor_info.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine {

class EpochTraining;

using model::TensorInfo;
using model::WeightSource;

struct EngineTraits {
  std::string name;                // as in the spec: onednn, none, emulated:v100
  std::string device;              // what computes, in words
  std::string source;              // where its speed comes from, for emulated ones: the profile's citation
  std::vector<std::string> notes;  // to be repeated in every output, e.g. "batch 64 scaled linearly to 16"
  bool emulated = false;
  bool trains = true;    // has weights, gradients and a loss
  std::string gpu_uuid;  // "GPU-...", of the GPU that computes; empty where none does
};

// Not thread-safe: one thread drives it. All functions @throws DeviceError where the device fails.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const EngineTraits& traits() const = 0;
  // Where the pipeline's batches should live. Valid as long as the engine.
  virtual PinnedAllocator& allocator() = 0;

  // One batch through upload, forward, backward (each finished bucket goes to `reducer`), update. Under
  // training.accumulate_steps so many calls are one step: the last one reduces and updates. May return before
  // the device is done, but runs at most one step ahead of it. The lease ends when its upload is done. The reducer
  // must outlive the engine, which may keep its work in a CUDA graph.
  // @throws SpecError for a batch of another size, or with valid < images unless the engine takes those
  virtual void step(BatchLease batch, Reducer& reducer) = 0;
  // Waits until every step begun is done.
  virtual void finish() = 0;
  // Of the last finished step. timings() and steps_finished() change only inside step() and finish(), by at most one
  // step a call, so that a caller who looks after each call misses none.
  virtual const measure::StepTimings& timings() const = 0;
  // Steps finished since construction or restart().
  virtual std::int64_t steps_finished() const = 0;
  // Starts over for another repeat: weights and buffers as at construction, moments zero, clocks and counts fresh.
  virtual void restart() = 0;

  // Bytes of host memory the engine holds (weights, activations, workspaces), for the forecast.
  virtual std::size_t held_bytes() const = 0;

  // Access to weights, for selftest and tests. Engines whose traits().trains is false have no tensors.
  virtual std::vector<TensorInfo> parameters() const = 0;
  virtual std::vector<TensorInfo> buffers() const = 0;  // running means and variances
  virtual void load_weights(const WeightSource& source) = 0;
  // `values` holds TensorInfo::count() of that tensor, in PyTorch's order.
  // @throws SpecError: no tensor has that name (with the nearest), or `values` is of another size
  virtual void read_parameter(const std::string& name, std::span<float> values) const = 0;
  virtual void read_gradient(const std::string& name, std::span<float> values) const = 0;  // of the last step
  virtual void read_buffer(const std::string& name, std::span<float> values) const = 0;
  virtual std::span<const float> logits() const = 0;  // [batch, outputs] of the last batch

  // What a training over epochs needs (epoch_training.hpp), valid as long as the engine; null where it has none of it.
  virtual EpochTraining* epoch_training() { return nullptr; }
};

// What an engine is built from.
struct EngineConfig {
  spec::ModelSpec model;
  spec::TrainingSpec training;
  spec::CommSpec comm;
  Deliver deliver = Deliver::f32;
  int outputs = kFindings;  // of the network: the labels of an image
  std::vector<int> cores;   // to compute on; empty: no binding, one thread
  int world = 1;            // ranks, for a modelled all-reduce
  int rank = 0;             // this one: dropout differs between ranks
  int gpu = 0;              // of those that CUDA shows this process, for an engine that computes on one
};

// Builds the engine that `name` asks for: auto, cuda, onednn, none, emulated:<profile>. Takes seconds for real ones.
// @throws SpecError for an unknown name (with the nearest), DeviceError where this machine or build lacks it
std::unique_ptr<Engine> make_engine(const std::string& name, const EngineConfig& config);

// Whether the engine of that name (resolved) keeps gradients in device memory, and EngineConfig::gpu says where.
bool computes_on_gpu(const std::string& name);

// `auto` resolved to the engine this build and machine would use; other names unchanged. Builds nothing.
// @throws as make_engine() for a name that this build has no engine for
std::string resolve_engine_name(const std::string& name);

}  // namespace chexbench::engine
