// Checkpoints of trainings: a training may continue only from a state that a training can have reached.
#include <cmath>

#include "bench/training/checkpoint.hpp"
#include "comm/communicator.hpp"
#include "engine/training_engine.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/memory_store.hpp"
#include "fuzz/safetensors_repair.hpp"

namespace chexbench::fuzz {
namespace {

// Takes the tensors of a network of one weight and one running mean from a checkpoint, and does nothing else.
class ResumingEngine final : public engine::Engine, public engine::EpochTraining {
 public:
  using TensorInfo = engine::TensorInfo;

  const engine::EngineTraits& traits() const override { return traits_; }
  PinnedAllocator& allocator() override { throw std::logic_error("not needed to resume"); }
  void step(BatchLease, Reducer&) override {}
  void finish() override {}
  const measure::StepTimings& timings() const override { return timings_; }
  std::int64_t steps_finished() const override { return 0; }
  void restart() override {}
  std::size_t held_bytes() const override { return 0; }
  std::vector<TensorInfo> parameters() const override { return {{.name = "conv1.weight", .shape = {1}}}; }
  std::vector<TensorInfo> buffers() const override { return {{.name = "bn1.running_mean", .shape = {2}}}; }
  void load_weights(const engine::WeightSource&) override {}
  void read_parameter(const std::string&, std::span<float>) const override {}
  void read_gradient(const std::string&, std::span<float>) const override {}
  void read_buffer(const std::string&, std::span<float>) const override {}
  std::span<const float> logits() const override { return {}; }
  EpochTraining* epoch_training() override { return this; }

  void set_learning_rate(double) override {}
  void evaluate(BatchLease, std::span<float>) override {}
  void swap_average() override {}
  void leave_out_time() override {}
  void set_buffers(const engine::WeightSource&) override {}
  std::vector<TensorInfo> moments() const override { return {}; }
  void read_moment(const std::string&, std::span<float>) const override {}
  std::int64_t updates() const override { return updates_; }
  void resume(const engine::WeightSource& source, std::int64_t updates) override {
    std::array<float, 2> values{};
    for (const TensorInfo& info : parameters()) source(info, std::span(values).first(info.count()));
    for (const TensorInfo& info : buffers()) source(info, std::span(values).first(info.count()));
    updates_ = updates;
  }

 private:
  engine::EngineTraits traits_;
  measure::StepTimings timings_;
  std::int64_t updates_ = 0;
};

}  // namespace

FUZZ_TARGET(checkpoint, "bench/training/checkpoint.cpp spec/safetensors.cpp", mutate_safetensors) {
  static const auto world = comm::make_single_world();
  const MemoryFile file(bytes);
  ResumingEngine engine;
  const auto state = accepted({ExitCode::data}, [&] {
    return bench::resume_from({.path = file.path()}, spec::TrialSpec(), engine, world->communicator());
  });
  if (!state) return;
  require(engine.updates() == state->updates && state->updates >= 0, "a training has made less than no update");
  require(state->rate.factor > 0 && state->rate.factor <= 1, "a learning rate was multiplied by what none is");
  require(!state->epochs.empty(), "a checkpoint has no epochs");
}

}  // namespace chexbench::fuzz
