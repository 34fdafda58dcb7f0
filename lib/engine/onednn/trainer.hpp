// The engine itself. A step is upload, forward, backward, waiting for the reducer, and update.
#pragma once

#include "engine/onednn/buckets.hpp"
#include "engine/onednn/network.hpp"
#include "engine/onednn/optimizer.hpp"
#include "engine/training_engine.hpp"

namespace chexbench::engine::onednn {

// Implements the contracts of engine.hpp and training_engine.hpp. All of a step's work is done when step() returns, so
// finish() has nothing to wait for. All functions must be called from the thread that constructed the engine, since the
// OpenMP team belongs to that thread.
class OnednnEngine final : public TrainingEngine {
 public:
  // Binds the calling thread to config.cores and loads or draws the initial weights.
  // @throws as make_onednn_engine()
  explicit OnednnEngine(const EngineConfig& config);

  PinnedAllocator& allocator() override { return host_allocator(); }
  void step(BatchLease batch, Reducer& reducer) override;
  void finish() override {}
  void restart() override;
  std::vector<OpTime> op_times() const override { return network_.op_times(); }
  std::size_t held_bytes() const override;

  std::vector<TensorInfo> parameters() const override;
  std::vector<TensorInfo> buffers() const override;
  void load_weights(const WeightSource& source) override;
  void read_parameter(const std::string& name, std::span<float> values) const override;
  void read_gradient(const std::string& name, std::span<float> values) const override;
  void read_buffer(const std::string& name, std::span<float> values) const override;
  std::span<const float> logits() const override;

 private:
  void set_learning_rate(double rate) override { optimizer_.set_learning_rate(rate); }
  void evaluate(BatchLease batch, std::span<float> logits) override;
  void swap_average() override;
  void leave_out_time() override;
  void set_buffers(const WeightSource& source) override;
  std::vector<TensorInfo> moments() const override;
  void read_moment(const std::string& name, std::span<float> values) const override;
  std::int64_t updates() const override { return optimizer_.steps(); }
  void resume(const WeightSource& source, std::int64_t updates) override;

  // Where the moment of a parameter is in the optimizer's arrays.
  struct MomentPlace {
    TensorInfo info;
    const ParameterSlot* slot;
    float* values;
  };
  std::vector<MomentPlace> moment_places() const;
  void load_parameters(const WeightSource& source);
  double compute_loss(std::span<const float> labels);
  void backward(Reducer& reducer);
  void remember_weights();

  const Device device_;
  const LossRule loss_;
  Network network_;
  Optimizer optimizer_;
  Buckets buckets_;
  Accumulation accumulation_;
  double last_end_s_ = 0;
  FloatArray initial_weights_;
  std::vector<std::vector<float>> initial_buffers_;
};

}  // namespace chexbench::engine::onednn
