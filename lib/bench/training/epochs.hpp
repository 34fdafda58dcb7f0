// A training over epochs, around the steps of a repeat: which images train, how fast, and what happens between epochs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/recorder.hpp"
#include "bench/step_observer.hpp"
#include "bench/training/checkpoint.hpp"
#include "bench/training/learning_rate.hpp"
#include "bench/trial.hpp"
#include "dataset/patient_split.hpp"

namespace chexbench::bench {

// An epoch has as many steps as its images make full batches for all ranks. Behind its last step the running statistics
// of all ranks are averaged, the images of other patients validate, and a checkpoint is written: last.safetensors in
// the repeat's folder, and best.safetensors, without the optimizer's moments, where no epoch was better.
class Epochs final : public StepObserver {
 public:
  // Restarts the engine, and goes on from last.safetensors in the repeat's folder, or else from training.checkpoint.
  // Collective. @throws DataError: too few images or patients, or what resume_from() throws; SpecError: an
  // engine without EpochTraining
  explicit Epochs(const TrialContext& context);

  const dataset::Dataset& training_images() const { return images_.training; }
  std::int64_t total_steps() const { return plan_.steps_per_epoch * context_.spec.training.epochs; }
  // The step to go on with.
  std::int64_t first_step() const { return plan_.steps_per_epoch * static_cast<std::int64_t>(state_.epochs.size()); }

  void begin_steps() override;  // time is counted from here
  void before_step(std::int64_t step) override;
  // Collective at an epoch's end, which it keeps out of the recorder's window.
  void after_step(std::int64_t step, Recorder& recorder) override;
  void end_repeat(results::RepeatResult& result) override { result.epochs = state_.epochs; }

 private:
  EpochPlan plan() const;
  void resume(const std::string& path);
  void look();  // at the step that has finished since
  void end_epoch(std::int64_t step);
  void average_buffers();
  double mean_loss();
  void save(bool is_best);

  const TrialContext& context_;
  const dataset::PatientSplit images_;
  const EpochPlan plan_;
  LearningRate rate_;
  TrainingState state_;
  std::int64_t steps_seen_ = 0;
  double loss_sum_ = 0;  // over the steps of this epoch
  double began_s_ = 0;   // as if the training had never been interrupted
};

}  // namespace chexbench::bench
