#include "engine/none/none.hpp"

#include <limits>

#include "core/clock.hpp"
#include "engine/registry.hpp"
#include "engine/step_parts.hpp"
#include "engine/tensorless.hpp"

namespace chexbench::engine::none {
namespace {

class NoneEngine final : public TensorlessEngine {
 public:
  explicit NoneEngine(int accumulate_steps) : parts_(accumulate_steps) {}

  const EngineTraits& traits() const override { return traits_; }

  void step(BatchLease batch, Reducer&) override {
    const double end_s = now_s();
    const auto whole_step = parts_.add({.wall_s = end_s - last_end_s_,
                                        .wait_s = end_s - last_end_s_,
                                        .end_s = end_s,
                                        .loss = std::numeric_limits<double>::quiet_NaN(),
                                        .images = batch->valid});
    last_end_s_ = end_s;
    if (!whole_step) return;
    timings_ = *whole_step;
    ++steps_finished_;
  }
  void finish() override {}
  const measure::StepTimings& timings() const override { return timings_; }
  std::int64_t steps_finished() const override { return steps_finished_; }
  void restart() override {
    timings_ = {};
    parts_.restart();
    steps_finished_ = 0;
    last_end_s_ = now_s();
  }
  std::size_t held_bytes() const override { return 0; }

 private:
  const EngineTraits traits_{.name = "none", .device = "none: batches are dropped", .trains = false};
  StepParts parts_;
  measure::StepTimings timings_;
  std::int64_t steps_finished_ = 0;
  double last_end_s_ = now_s();
};

}  // namespace

std::unique_ptr<Engine> make_none_engine(int accumulate_steps) {
  return std::make_unique<NoneEngine>(accumulate_steps);
}

const EngineKind& kind() {
  static constexpr EngineKind kKind{
      .name = "none", .drops_batches = true, .make = [](const std::string&, const EngineConfig& config) {
        return make_none_engine(config.training.accumulate_steps);
      }};
  return kKind;
}

}  // namespace chexbench::engine::none
