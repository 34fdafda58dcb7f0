// Turns the steps of a repeat into a training over epochs: chooses the images and the learning rate, and validates and
// writes checkpoints between epochs.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "bench/journal.hpp"
#include "bench/recorder.hpp"
#include "bench/step_observer.hpp"
#include "bench/training/checkpoint.hpp"
#include "bench/training/epoch_events.hpp"
#include "bench/training/learning_rate.hpp"
#include "bench/trial.hpp"
#include "dataset/dataset.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// An epoch has one step for each full set of batches for all ranks that its images fill. After its last step it
// averages the running statistics of all ranks, validates with the images of other patients, and writes a checkpoint:
// last.safetensors in the repeat's folder (after the last epoch, save_last() writes it), and, if no earlier epoch was
// better, best.safetensors without the optimizer's moments.
class Epochs final : public StepObserver {
 public:
  // Restarts the engine and resumes from last.safetensors in the repeat's folder, or else from training.checkpoint.
  // `context` must outlive this object. Collective.
  // @throws DataError if there are too few images or patients, or as resume_from(); SpecError if the engine has no
  // EpochTraining
  explicit Epochs(const TrialContext& context);

  const dataset::Dataset& training_images() const { return images_.training; }
  std::int64_t total_steps() const { return plan_.steps_per_epoch * context_.spec.training.epochs; }
  // Returns the step at which the training resumes; 0 if it begins.
  std::int64_t first_step() const { return plan_.steps_per_epoch * static_cast<std::int64_t>(state_.epochs.size()); }

  // Returns whether the last epoch has ended, or training.stop_patience ends the training before it.
  bool is_over() const;

  void begin_steps() override;  // time is counted from here
  void before_step(std::int64_t step) override;
  // Collective at an epoch's end, which it excludes from the recorder's window.
  void after_step(std::int64_t step, Recorder& recorder) override;
  void end_repeat(results::RepeatResult& result) override { result.epochs = state_.epochs; }
  // Writes the checkpoint that ends the training. Keep the training's measurements first, because a run that finds this
  // checkpoint has nothing left to measure.
  void save_last();

 private:
  EpochPlan plan() const;
  void resume(const CheckpointToResume& checkpoint);
  // CPU engines divide sums among the cores of a rank, so other cores give other roundings.
  void warn_of_other_cores(const std::string& path) const;
  void look();  // adds the step that finished since the last call
  void end_epoch(std::int64_t step);
  void average_buffers();
  // Returns a summary of this epoch's steps over all ranks, and begins the next one. Collective.
  EpochSteps take_steps();
  void save_best();

  const TrialContext& context_;
  const dataset::PatientSplit images_;
  const EpochPlan plan_;
  LearningRate rate_;
  TrainingState state_;
  std::optional<EpochEvents> events_;  // set once the starting point of the training is known
  std::int64_t begun_at_step_ = 0;     // earlier steps are from earlier runs
  std::int64_t steps_seen_ = 0;
  // Over the steps of this epoch, of this rank: loss, images, time, wait.
  std::array<double, 4> step_sums_{};
  double began_s_ = 0;  // for a resumed training, moved back by the time already taken
};

// The measurements of a finished training, kept next to its last checkpoint, so that a kill between that checkpoint and
// the line in the journal loses nothing.

// Writes the repeat of the trial with this key as repeat.json, in the format of a journal line, into `folder`, next to
// the training's checkpoints. Call it before writing the last checkpoint. Creates the folder.
// @throws OutputError if it cannot be written
void keep_finished_repeat(const std::string& folder, const std::string& key, const results::RepeatResult& repeat);

// Returns repeat `repeat` of the trial with this key if last.safetensors in `folder` is the checkpoint that ended it,
// with the same epochs; else std::nullopt, for example after a kill.
// @throws DataError if one of the two files is damaged
std::optional<results::RepeatResult> find_finished_repeat(const std::string& folder, const std::string& key,
                                                          int repeat);

// Returns the repeats kept in the folders of `checkpoints`, except for damaged ones.
RepeatKeys finished_repeat_keys(const std::string& checkpoints);

}  // namespace chexbench::bench
