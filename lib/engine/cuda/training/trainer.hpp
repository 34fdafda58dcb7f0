// The engine itself: it uploads a batch, queues its pass (step_queue.hpp), and waits for the pass before it.
#pragma once

#include <functional>
#include <memory>

#include "engine/cuda/training/evaluation.hpp"
#include "engine/cuda/training/step_clock.hpp"
#include "engine/cuda/training/step_queue.hpp"
#include "engine/cuda/training/weights.hpp"
#include "engine/training_engine.hpp"

namespace chexbench::engine::cuda {

// Trains a network on one GPU. The device always has one pass queued while the host fetches the next batch. A longer
// queue would hide a slow pipeline. Contracts of the overriding functions: engine/engine.hpp and
// engine/training_engine.hpp. Not thread-safe.
class CudaEngine final : public TrainingEngine {
 public:
  // Selects the device and makes the engine ready for the first step. Takes seconds, or minutes if convolutions must
  // be timed first (convolutions.hpp).
  // @throws DeviceError if there is no such device, it lacks the precision or the memory, or the engine or cuDNN
  // cannot compute the network; SpecError for a wrong model
  explicit CudaEngine(const EngineConfig& config);
  ~CudaEngine() override;

  PinnedAllocator& allocator() override { return pinned_allocator(); }
  void step(BatchLease batch, Reducer& reducer) override;
  void finish() override;
  void restart() override;
  std::size_t held_bytes() const override { return weights_.held_bytes(); }

  std::vector<TensorInfo> parameters() const override { return weights_.parameters(); }
  std::vector<TensorInfo> buffers() const override { return weights_.buffers(); }
  void load_weights(const WeightSource& source) override;
  void read_parameter(const std::string& name, std::span<float> values) const override;
  void read_gradient(const std::string& name, std::span<float> values) const override;
  void read_buffer(const std::string& name, std::span<float> values) const override;
  std::span<const float> logits() const override;

 private:
  void set_learning_rate(double rate) override;
  void evaluate(BatchLease batch, std::span<float> logits) override;
  void swap_average() override;
  void leave_out_time() override;
  void set_buffers(const WeightSource& source) override;
  std::vector<TensorInfo> moments() const override { return moments_.infos(); }
  void read_moment(const std::string& name, std::span<float> values) const override;
  std::int64_t updates() const override;
  void resume(const WeightSource& source, std::int64_t updates) override;

  std::unique_ptr<Convolutions> planned_convolutions(const EngineConfig& config) const;
  Program chosen_program(const EngineConfig& config) const;
  std::vector<int> chosen_prologues() const;
  MemoryPlan plan();
  void use_workspaces();
  // Waits for the oldest pass that is not finished, and takes its timings and loss.
  // @throws DeviceError if the loss, or without loss scaling a gradient, is not finite
  void collect();
  // Polls until `done` returns true, and checks meanwhile that the other ranks are alive. @throws DeviceError if one is
  // lost, or if it takes longer than stall_limit_
  void wait_until(const std::function<bool()>& done);
  // Ends communication. @throws DeviceError always, with this rank and the step that stalls
  [[noreturn]] void report_stall();
  // Finds the layer that a non-finite loss or gradient comes from. @throws DeviceError always, with that layer
  [[noreturn]] void report_bad_pass(std::int64_t pass, double loss);

  const int rank_, world_;
  const DeviceIdentity device_;
  const model::Graph graph_;
  MemoryRequest request_;
  const std::unique_ptr<Convolutions> convolutions_;
  const Program program_;
  const ParameterLayout parameters_;
  LinearProducts linear_;
  const MemoryPlan plan_;
  const DeviceMemory memory_;
  const Addresses addresses_;
  Network network_;
  Update update_;
  const Accumulation accumulation_;
  DeviceBuckets buckets_;
  Weights weights_;
  Moments moments_;
  Evaluation evaluation_;
  StepQueue queue_;

  StallLimit stall_limit_;
  double end_s_ = 0;                       // end of the pass finished last, on the host's clock
  std::int64_t begun_ = 0, finished_ = 0;  // passes
  double learning_rate_ = 0;               // as last sent to the device; NaN if that is unknown
  Reducer* reducer_ = nullptr;             // of the pass that was begun last
  mutable std::vector<float> logits_;
};

}  // namespace chexbench::engine::cuda
