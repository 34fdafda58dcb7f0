#include "engine/emulated/emulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/checks.hpp"
#include "engine/registry.hpp"
#include "engine/step_parts.hpp"
#include "engine/step_plan.hpp"
#include "engine/tensorless.hpp"
#include "measure/trace.hpp"
#include "spec/keys.hpp"

namespace chexbench::engine::emulated {
namespace {

struct Submission {
  BatchLease batch;
  Reducer* reducer = nullptr;
  double submitted_s = 0;
};

struct Communication {
  double exposed_s = 0;
  double busy_s = 0;
};

EngineTraits describe(const std::string& profile_name, const spec::AcceleratorProfile& profile,
                      const spec::ProfileEntry& entry, std::vector<std::string> notes) {
  return {.name = std::string(spec::kEmulatedPrefix) + profile_name,
          .device = "emulated " + profile.device,
          .source = entry.source,
          .notes = std::move(notes),
          .emulated = true,
          .step_time_computed = entry.computed,
          .trains = false};
}

class EmulatedEngine final : public TensorlessEngine {
 public:
  // `plan` and `modelled` (unused if gradients are averaged for real) are at the speed of the scale model.
  EmulatedEngine(EngineTraits traits, StepPlan plan, ModelledCommunication modelled, const EngineConfig& config)
      : traits_(std::move(traits)),
        plan_(std::move(plan)),
        shape_{.images = config.training.batch_size,
               .height = config.model.image_size,
               .width = config.model.image_size,
               .deliver = config.deliver,
               .labels = config.outputs},
        accumulate_steps_(config.training.accumulate_steps),
        world_(config.world),
        averages_for_real_(config.world > 1 && spec::sends_gradients(config.comm.model)),
        meets_ranks_(config.world > 1 && config.comm.model == spec::CommModel::alpha_beta),
        modelled_(std::move(modelled)),
        parts_(accumulate_steps_) {
    if (averages_for_real_) {
      std::size_t elements = 0;
      for (const PlannedBucket& bucket : plan_.buckets) elements += bucket.elements;
      gradients_.resize(elements);
    }
    device_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  const EngineTraits& traits() const override { return traits_; }
  void step(BatchLease batch, Reducer& reducer) override;
  void finish() override;
  const measure::StepTimings& timings() const override { return timings_; }
  std::int64_t steps_finished() const override { return published_; }
  void restart() override;
  std::size_t held_bytes() const override { return gradients_.size() * sizeof(float); }

 private:
  void check(const Batch& batch, const Reducer& reducer) const;
  // Host side: waits until the device has finished `batches` batches, and publishes the oldest step that is not
  // published yet.
  void wait_and_publish(std::unique_lock<std::mutex>& lock, std::int64_t batches);

  // Device side: these run on the thread device_.
  void run(const std::stop_token& stop);
  std::optional<Submission> take(const std::stop_token& stop);
  measure::StepTimings execute(Submission submission);
  Communication communicate(Reducer& reducer, double begin_s);
  Communication modelled_average(Reducer& reducer, double begin_s) const;
  void trace_modelled(double begin_s) const;
  Communication average_for_real(Reducer& reducer, double backward_begin_s);

  const EngineTraits traits_;
  const StepPlan plan_;
  const BatchShape shape_;
  const int accumulate_steps_;
  const int world_;
  const bool averages_for_real_;
  const bool meets_ranks_;                // A modelled average waits for all ranks, like a real one.
  const ModelledCommunication modelled_;  // Of each step, if gradients are not averaged for real.
  std::vector<float> gradients_;          // Zeros: only the size of the gradients matters.

  // Used by the host's thread only.
  measure::StepTimings timings_;
  std::int64_t published_ = 0;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Submission> next_;
  std::int64_t submitted_ = 0;  // batches
  std::int64_t finished_ = 0;   // batches
  StepParts parts_;             // Used by the device's thread while it has work.
  // Two at most: the device may finish its next step before a late host has checked the last one.
  std::deque<measure::StepTimings> unpublished_;
  double last_end_s_ = now_s();
  std::exception_ptr error_;

  std::jthread device_;  // Last member: joined before the members that it uses are destroyed.
};

void EmulatedEngine::check(const Batch& batch, const Reducer& reducer) const {
  check_batch(traits_.name, shape_, batch);
  if ((averages_for_real_ || meets_ranks_) && reducer.world() != world_) {
    throw DeviceError(fmt::format("engine '{}': built for {} ranks, but its gradients are averaged over {}",
                                  traits_.name, world_, reducer.world()));
  }
}

void EmulatedEngine::step(BatchLease batch, Reducer& reducer) {
  check(*batch, reducer);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !next_ || error_; });
  if (error_) std::rethrow_exception(error_);
  next_ = Submission{.batch = std::move(batch), .reducer = &reducer, .submitted_s = now_s()};
  ++submitted_;
  changed_.notify_all();
  wait_and_publish(lock, submitted_ - 1);
}

void EmulatedEngine::finish() {
  std::unique_lock lock(mutex_);
  wait_and_publish(lock, submitted_);
}

void EmulatedEngine::wait_and_publish(std::unique_lock<std::mutex>& lock, std::int64_t batches) {
  changed_.wait(lock, [&] { return finished_ >= batches || error_; });
  if (error_) std::rethrow_exception(error_);
  const std::int64_t steps = batches / accumulate_steps_;
  if (published_ < steps) {
    timings_ = unpublished_.front();
    unpublished_.pop_front();
    published_ = steps;
  }
}

void EmulatedEngine::restart() {
  finish();
  const std::lock_guard lock(mutex_);
  timings_ = {};
  parts_.restart();
  published_ = submitted_ = finished_ = 0;
  last_end_s_ = now_s();
}

void EmulatedEngine::run(const std::stop_token& stop) {
  name_this_thread("emulated");
  while (std::optional<Submission> submission = take(stop)) {
    try {
      const measure::StepTimings timings = execute(*std::move(submission));
      const std::lock_guard lock(mutex_);
      if (const auto whole_step = parts_.add(timings)) unpublished_.push_back(*whole_step);
      last_end_s_ = timings.end_s;
      ++finished_;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    changed_.notify_all();
  }
}

std::optional<Submission> EmulatedEngine::take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return next_.has_value(); })) return {};
  std::optional<Submission> taken = std::exchange(next_, std::nullopt);
  changed_.notify_all();
  return taken;
}

measure::StepTimings EmulatedEngine::execute(Submission submission) {
  const double begin_s = std::max(submission.submitted_s, last_end_s_);
  submission.batch.release();
  const bool is_last = parts_.is_last();
  const Communication communication = is_last ? communicate(*submission.reducer, begin_s) : Communication{};
  measure::StepTimings timings{.wait_s = begin_s - last_end_s_,
                               .compute_s = plan_.forward_s + plan_.backward_s,
                               .exposed_communication_s = communication.exposed_s,
                               .update_s = is_last ? plan_.update_s : 0,
                               .forward_s = plan_.forward_s,
                               .backward_s = plan_.backward_s,
                               .communication_busy_s = communication.busy_s,
                               .loss = std::numeric_limits<double>::quiet_NaN(),
                               .images = shape_.images};
  timings.end_s = begin_s + timings.compute_s + timings.exposed_communication_s + timings.update_s;
  timings.wall_s = timings.end_s - last_end_s_;
  timings.set_rest();
  sleep_until_s(timings.end_s);
  return timings;
}

Communication EmulatedEngine::communicate(Reducer& reducer, double begin_s) {
  return averages_for_real_ ? average_for_real(reducer, begin_s + plan_.forward_s) : modelled_average(reducer, begin_s);
}

// All ranks compute equally long, so the rank that begins its step last is late by as much at each bucket.
Communication EmulatedEngine::modelled_average(Reducer& reducer, double begin_s) const {
  double all_begin_s = begin_s;
  if (meets_ranks_) {
    reducer.meet();
    all_begin_s = std::max(begin_s, now_s());
  }
  if (measure::is_tracing()) trace_modelled(all_begin_s);
  return {.exposed_s = all_begin_s - begin_s + modelled_.exposed_s(plan_.backward_s), .busy_s = modelled_.busy_s};
}

void EmulatedEngine::trace_modelled(double begin_s) const {
  const double backward_begin_s = begin_s + plan_.forward_s;
  for (const ModelledBucket& bucket : modelled_.buckets) {
    measure::record_span({.name = "modelled bucket",
                          .kind = measure::SpanKind::bucket,
                          .begin_s = backward_begin_s + bucket.begin_s,
                          .end_s = backward_begin_s + bucket.end_s,
                          .detail = static_cast<std::int64_t>(bucket.bytes)});
  }
  if (modelled_.software_s <= 0) return;
  const double software_begin_s = backward_begin_s + std::max(plan_.backward_s, modelled_.end_s);
  measure::record_span({.name = "modelled software",
                        .kind = measure::SpanKind::bucket,
                        .begin_s = software_begin_s,
                        .end_s = software_begin_s + modelled_.software_s,
                        .detail = 0});
}

Communication EmulatedEngine::average_for_real(Reducer& reducer, double backward_begin_s) {
  float* data = gradients_.data();
  for (const PlannedBucket& bucket : plan_.buckets) {
    sleep_until_s(backward_begin_s + bucket.ready_s);
    reducer.reduce({.data = data, .count = bucket.elements}, nullptr);
    data += bucket.elements;
  }
  reducer.wait();
  // The last bucket is complete when backward ends, so all time after that is communication.
  return {.exposed_s = std::max(0.0, now_s() - (backward_begin_s + plan_.backward_s)),
          .busy_s = reducer.timings().busy_s};
}

}  // namespace

std::unique_ptr<Engine> make_emulated_engine(const std::string& name_or_path, const EngineConfig& config) {
  const spec::AcceleratorProfile profile = spec::load_profile(name_or_path);
  const spec::ProfileEntry entry =
      spec::find_entry(profile, config.model, config.training.precision, config.training.batch_size);
  StepPlan plan = plan_step(entry, config);
  EngineTraits traits = describe(name_or_path, profile, entry, plan.notes);
  ModelledCommunication modelled;
  if (config.comm.model == spec::CommModel::alpha_beta) modelled = model_communication(plan, config.world, config.comm);
  return std::make_unique<EmulatedEngine>(std::move(traits), slowed(std::move(plan), config.slowdown),
                                          slowed(std::move(modelled), config.slowdown), config);
}

const EngineKind& kind() {
  static constexpr EngineKind kKind{.name = "emulated", .takes_profile = true, .make = make_emulated_engine};
  return kKind;
}

}  // namespace chexbench::engine::emulated
