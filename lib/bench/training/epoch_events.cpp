#include "bench/training/epoch_events.hpp"

#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "measure/machine.hpp"

namespace chexbench::bench {
namespace {

constexpr double kWriteStepsEvery_s = 5;

using Scalars = std::vector<formats::Scalar>;

Scalars scalars_of(const results::EpochRecord& epoch, const EpochSteps& steps) {
  Scalars scalars{{"loss/training", epoch.training_loss},
                  {"loss/validation", epoch.validation_loss},
                  {"input/images_per_s", steps.images_per_s},
                  {"input/wait_share", steps.wait_share},
                  {"learning_rate", epoch.learning_rate}};
  if (epoch.mean_auroc) scalars.push_back({"auroc/mean", *epoch.mean_auroc});
  if (epoch.top1) scalars.push_back({"accuracy/top1", *epoch.top1});
  if (epoch.top5) scalars.push_back({"accuracy/top5", *epoch.top5});
  for (const results::LabelScore& score : epoch.scores) {
    if (score.auroc) scalars.push_back({"auroc_by_finding/" + score.label, *score.auroc});
  }
  return scalars;
}

Scalars scalars_of(const measure::StepTimings& timings, double learning_rate, int ranks) {
  Scalars scalars{{"step/loss", timings.loss}, {"step/learning_rate", learning_rate}};
  if (timings.wall_s <= 0) return scalars;
  scalars.push_back({"step/images_per_s", ranks * timings.images / timings.wall_s});
  scalars.push_back({"step/wait_share", timings.wait_s / timings.wall_s});
  return scalars;
}

}  // namespace

template <class Write>
void EpochEvents::attempt(Write write) {
  try {
    write();
  } catch (const OutputError& error) {
    epochs_.reset();
    steps_.reset();
    if (place_.on_failure) place_.on_failure(error);
  }
}

EpochEvents::EpochEvents(EventPlace place, std::int64_t epochs_done, std::int64_t steps_done)
    : place_(std::move(place)), written_s_(now_s()) {
  if (place_.folder.empty()) return;
  attempt([&] {
    const double unix_s = measure::unix_now_s();
    epochs_.emplace(place_.folder, place_.host, unix_s, epochs_done + 1);
    steps_.emplace(place_.folder + "/steps", place_.host, unix_s, steps_done + 1);
  });
}

void EpochEvents::add_step(std::int64_t number, const measure::StepTimings& timings, double learning_rate, int ranks) {
  if (!steps_) return;
  attempt([&] {
    steps_->add(measure::unix_now_s(), number, scalars_of(timings, learning_rate, ranks));
    if (now_s() - written_s_ < kWriteStepsEvery_s) return;
    steps_->write();
    written_s_ = now_s();
  });
}

void EpochEvents::add_epoch(const results::EpochRecord& epoch, const EpochSteps& steps) {
  if (!epochs_) return;
  attempt([&] {
    steps_->sync();
    epochs_->add(measure::unix_now_s(), epoch.epoch, scalars_of(epoch, steps));
    epochs_->sync();
  });
}

}  // namespace chexbench::bench
