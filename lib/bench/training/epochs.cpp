#include "bench/training/epochs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "bench/rank_layout.hpp"
#include "bench/training/checkpoint.hpp"
#include "bench/training/validation.hpp"
#include "comm/communicator.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/output_file.hpp"
#include "core/text.hpp"
#include "engine/registry.hpp"
#include "engine/training_engine.hpp"
#include "results/read.hpp"

namespace chexbench::bench {
namespace {

engine::EpochTraining& epoch_training(engine::Engine& engine) {
  if (engine::EpochTraining* const training = engine.epoch_training()) return *training;
  throw SpecError(fmt::format("training.epochs: engine {} cannot validate and keep checkpoints", engine.traits().name));
}

// Calls `use` while the moving average, if any, replaces the engine's weights. An error ends the training, so the
// weights need not be restored then.
template <typename Use>
void with_average(engine::Engine& engine, const Use& use) {
  epoch_training(engine).swap_average();
  use();
  epoch_training(engine).swap_average();
}

// Returns the checkpoint to resume from, the same on every rank; its path is empty for a new training. Only rank 0
// looks, because the folder may exist only on its host.
CheckpointToResume checkpoint_to_resume(const TrialContext& context) {
  CheckpointToResume checkpoint;
  if (context.communicator.rank() == 0) {
    const std::string own = last_checkpoint(context.checkpoint_folder);
    checkpoint.same_training = !context.checkpoint_folder.empty() && std::filesystem::exists(own);
    checkpoint.path = checkpoint.same_training ? own : context.spec.training.checkpoint;
  }
  checkpoint.path = comm::broadcast_text(context.communicator, checkpoint.path);
  context.communicator.broadcast(std::as_writable_bytes(std::span(&checkpoint.same_training, 1)), 0);
  return checkpoint;
}

}  // namespace

Epochs::Epochs(const TrialContext& context)
    : context_(context),
      images_(dataset::split_for_epochs(context.dataset, context.spec.training.validation_share)),
      plan_(plan()),
      rate_(context.spec.training, plan_) {
  epoch_training(context.engine);  // throws before anything is done if unsupported
  if (context.dataset.validation && context.communicator.rank() == 0 && context.spec.training.validation_share > 0) {
    log::info_once("{}: the {} images of split val validate, and all {} of split train are trained on",
                   context.spec.data.root, images_.validation.images.size(), images_.training.images.size());
  }
  context.engine.restart();
  if (const CheckpointToResume checkpoint = checkpoint_to_resume(context); !checkpoint.path.empty()) resume(checkpoint);
  state_.experiment = context.spec.name;
  state_.labels = context.dataset.label_names;
  state_.cores_per_rank = static_cast<int>(context.cores.size());
  begun_at_step_ = first_step();
  if (context.communicator.rank() == 0) events_.emplace(context.events, std::ssize(state_.epochs), begun_at_step_);
}

void Epochs::resume(const CheckpointToResume& checkpoint) {
  const std::string& path = checkpoint.path;
  state_ = resume_from(checkpoint, context_.spec, context_.engine, context_.communicator);
  const std::size_t done = state_.epochs.size();
  const int wanted = context_.spec.training.epochs;
  if (!is_over()) {
    log::info("continues from {}: {} of {} epochs are done", path, done, wanted);
    warn_of_other_cores(path);
    rate_.resume(state_.rate);
    return;
  }
  if (!checkpoint.same_training && static_cast<int>(done) < wanted) {
    throw SpecError(fmt::format(
        "{} ended after {} of {} epochs because training.stop_patience is {}: raise it, or start again without that "
        "checkpoint",
        path, done, wanted, context_.spec.training.stop_patience));
  }
  if (!checkpoint.same_training) {
    throw SpecError(fmt::format(
        "training.epochs is {}, and {} has already trained {}: raise it, or start again without that checkpoint",
        wanted, path, done));
  }
  // The protocol would have taken the repeat from the journal, or from the checkpoint's folder.
  log::warning("{} has already trained all {} epochs, but their measurements are lost: training again", path, done);
  state_ = {};
  context_.engine.restart();
}

bool Epochs::is_over() const {
  const spec::TrainingSpec& training = context_.spec.training;
  if (std::ssize(state_.epochs) >= training.epochs) return true;
  return training.stop_patience > 0 && epochs_without_better(state_.epochs) >= training.stop_patience;
}

void Epochs::warn_of_other_cores(const std::string& path) const {
  const auto cores = static_cast<int>(context_.cores.size());
  const bool are_known = state_.cores_per_rank > 0 && !engine::computes_on_gpu(context_.spec.engine);
  if (context_.communicator.rank() != 0 || !are_known || state_.cores_per_rank == cores) return;
  log::warning(
      "{} was trained on {} core{} a rank, and this run has {}: sums are rounded otherwise, so losses will differ from "
      "those of a training that keeps its cores; cores_per_rank in the spec, or the same binding, keeps them",
      path, state_.cores_per_rank, state_.cores_per_rank == 1 ? "" : "s", cores);
}

void Epochs::begin_steps() {
  epoch_training(context_.engine).leave_out_time();
  began_s_ = now_s() - (state_.epochs.empty() ? 0 : state_.epochs.back().elapsed_s);
}

EpochPlan Epochs::plan() const {
  const int ranks = context_.communicator.world();
  const std::size_t images = images_.training.images.size();
  const std::int64_t global_batch =
      std::int64_t{context_.spec.training.batch_size} * context_.spec.training.accumulate_steps * ranks;
  const std::int64_t steps = static_cast<std::int64_t>(images) / global_batch;
  if (steps > 0) return {.ranks = ranks, .steps_per_epoch = steps};
  throw DataError(
      fmt::format("only {} for training ({} for validation), fewer than the {} of one step of all ranks: lower "
                  "training.batch_size",
                  count_text(images, "image"), images_.validation.images.size(), global_batch));
}

void Epochs::before_step(std::int64_t step) { epoch_training(context_.engine).set_learning_rate(rate_.at(step)); }

void Epochs::after_step(std::int64_t step, Recorder& recorder) {
  look();
  if ((step + 1) % plan_.steps_per_epoch != 0) return;
  context_.engine.finish();
  look();
  recorder.look(context_.engine);
  recorder.pause();
  context_.communicator.enter(
      {.what = fmt::format("validates after epoch {}", state_.epochs.size() + 1), .patience = comm::Patience::limited});
  end_epoch(step);
  context_.communicator.barrier();  // rank 0 had more to do
  context_.communicator.enter(stepping(total_steps(), context_.repeat));
  epoch_training(context_.engine).leave_out_time();
  recorder.go_on();
}

void Epochs::look() {
  if (context_.engine.steps_finished() == steps_seen_) return;
  steps_seen_ = context_.engine.steps_finished();
  const measure::StepTimings& timings = context_.engine.timings();
  const std::array<double, 4> step{timings.loss, static_cast<double>(timings.images), timings.wall_s, timings.wait_s};
  std::ranges::transform(step_sums_, step, step_sums_.begin(), std::plus{});
  const std::int64_t number = begun_at_step_ + steps_seen_;
  if (events_) events_->add_step(number, timings, rate_.at(number - 1), plan_.ranks);
}

// Averages over ranks, too, because they train on different images.
EpochSteps Epochs::take_steps() {
  std::array<double, 4> sums = std::exchange(step_sums_, {});
  context_.communicator.all_reduce_sum(std::span(sums));
  const auto [loss, images, wall_s, wait_s] = sums;
  EpochSteps steps{.mean_loss = loss / plan_.ranks / static_cast<double>(plan_.steps_per_epoch)};
  if (wall_s <= 0) return steps;
  steps.images_per_s = images * plan_.ranks / wall_s;
  steps.wait_share = wait_s / wall_s;
  return steps;
}

// Each rank normalized by its own batches. All ranks continue with the mean of their statistics, so that a checkpoint
// is one network.
void Epochs::average_buffers() {
  if (plan_.ranks == 1) return;
  std::map<std::string, std::vector<float>> buffers;
  for (const model::TensorInfo& info : context_.engine.buffers()) {
    std::vector<float>& values = buffers[info.name];
    values.resize(static_cast<std::size_t>(info.count()));
    context_.engine.read_buffer(info.name, values);
    context_.communicator.all_reduce_sum(std::span(values));
    for (float& value : values) value /= static_cast<float>(plan_.ranks);
  }
  epoch_training(context_.engine).set_buffers([&buffers](const model::TensorInfo& info, std::span<float> values) {
    std::copy_n(buffers.at(info.name).begin(), values.size(), values.begin());
  });
}

void Epochs::save_best() {
  if (context_.communicator.rank() != 0 || context_.checkpoint_folder.empty()) return;
  with_average(context_.engine, [&] {
    write_checkpoint(context_.checkpoint_folder + "/best.safetensors", context_.spec, state_, context_.engine, false);
  });
}

void Epochs::save_last() {
  if (context_.communicator.rank() != 0 || context_.checkpoint_folder.empty()) return;
  write_checkpoint(last_checkpoint(context_.checkpoint_folder), context_.spec, state_, context_.engine, true);
}

void Epochs::end_epoch(std::int64_t step) {
  const double ended_s = now_s();
  average_buffers();
  Validation validation;
  with_average(context_.engine, [&] {
    validation = validate({.spec = context_.spec,
                           .images = images_.validation,
                           .engine = context_.engine,
                           .communicator = context_.communicator,
                           .cores = context_.cores});
  });
  results::EpochRecord& epoch = validation.epoch;
  epoch.epoch = static_cast<int>(state_.epochs.size()) + 1;
  epoch.learning_rate = rate_.at(step);
  const EpochSteps steps = take_steps();
  epoch.training_loss = steps.mean_loss;
  rate_.end_epoch(epoch.validation_loss);
  const double score = validation_score(epoch);
  const bool diverged = !std::isfinite(epoch.validation_loss);
  if (diverged && context_.communicator.rank() == 0) {
    log::warning(
        "epoch {}: the loss over the validation images is {}: the network has diverged; a lower "
        "training.learning_rate may help",
        epoch.epoch, epoch.validation_loss);
  }
  const bool is_best = !diverged && (state_.epochs.empty() || score > state_.best_score);
  if (is_best) {
    state_.best_score = score;
    for (results::EpochRecord& earlier : state_.epochs) earlier.curves.clear();
    if (context_.communicator.rank() == 0 && !epoch.scores.empty()) epoch.curves = curves_of(validation);
  }
  epoch.validation_s = now_s() - ended_s;
  epoch.elapsed_s = now_s() - began_s_;
  if (events_) events_->add_epoch(epoch, steps);
  state_.epochs.push_back(std::move(epoch));
  state_.updates = epoch_training(context_.engine).updates();
  state_.rate = rate_.state();
  if (is_best) save_best();  // first: `last` stores the best score, so no later epoch would write `best` again
  if (!is_over()) return save_last();
  if (std::ssize(state_.epochs) < context_.spec.training.epochs && context_.communicator.rank() == 0) {
    log::info("the training ends after epoch {} of {}: the last {} were not better (training.stop_patience)",
              state_.epochs.size(), context_.spec.training.epochs, context_.spec.training.stop_patience);
  }
}

namespace {

std::string path_in(const std::string& folder) { return folder + "/repeat.json"; }

// @throws DataError if the file in `folder` is damaged
std::vector<results::JournalEntry> kept_in(const std::string& folder) {
  std::ostringstream text;
  text << std::ifstream(path_in(folder), std::ios::binary).rdbuf();
  return results::journal_from_text(text.view(), path_in(folder)).entries;
}

}  // namespace

void keep_finished_repeat(const std::string& folder, const std::string& key, const results::RepeatResult& repeat) {
  make_folder(folder);
  write_file_atomically(path_in(folder), results::to_journal_line({.key = key, .repeat = repeat}) + '\n');
}

std::optional<results::RepeatResult> find_finished_repeat(const std::string& folder, const std::string& key,
                                                          int repeat) {
  if (!std::filesystem::exists(last_checkpoint(folder))) return {};
  std::vector<results::JournalEntry> entries = kept_in(folder);
  if (entries.size() != 1) return {};
  results::JournalEntry& entry = entries.front();
  if (entry.key != key || entry.repeat.repeat != repeat) return {};
  if (!is_checkpoint_after(last_checkpoint(folder), entry.repeat.epochs)) return {};
  return std::move(entry.repeat);
}

RepeatKeys finished_repeat_keys(const std::string& checkpoints) {
  RepeatKeys keys;
  std::error_code error;  // ignored: without trainings there is no such folder
  for (const auto& training : std::filesystem::directory_iterator(checkpoints, error)) {
    try {
      for (const results::JournalEntry& entry : kept_in(training.path())) keys.emplace(entry.key, entry.repeat.repeat);
    } catch (const DataError&) {  // find_finished_repeat() reports it if the repeat is needed
    }
  }
  return keys;
}

}  // namespace chexbench::bench
