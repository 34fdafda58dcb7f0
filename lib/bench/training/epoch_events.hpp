// Writes curves of a running training over epochs for TensorBoard: by epoch, and by step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/errors.hpp"
#include "formats/event_file.hpp"
#include "measure/step_timings.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// The place for the event files of trainings.
struct EventPlace {
  std::string folder;  // empty: none are written
  std::string host;    // of this rank, for the names of files
  // Called once for a training whose event files cannot be written any further. May be empty.
  std::function<void(const OutputError&)> on_failure;
};

// A summary of an epoch's steps over all ranks.
struct EpochSteps {
  double mean_loss = 0;
  double images_per_s = 0;
  double wait_share = 0;
};

// The two x-axes need two TensorBoard runs, because it drops points that a resumed training repeats by their x: epochs
// go into the folder itself, and steps into its folder `steps`. A training must not end because its curves cannot be
// written, so nothing here throws OutputError. Not thread-safe.
class EpochEvents {
 public:
  // Starts after the given epochs and steps of earlier runs. Writes nothing if the place has no folder.
  EpochEvents(EventPlace place, std::int64_t epochs_done, std::int64_t steps_done);

  // Adds a step, which is the `number`-th of the training, from 1. The file is updated every few seconds. The rate
  // assumes that all `ranks` are as fast as this one.
  void add_step(std::int64_t number, const measure::StepTimings& timings, double learning_rate, int ranks);
  // Adds an epoch, and flushes everything to storage. Call it before writing the epoch's checkpoint: a training that
  // continues from there would not add the epoch again.
  void add_epoch(const results::EpochRecord& epoch, const EpochSteps& steps);

 private:
  // Runs `write`; if that fails, reports it, and writes nothing from then on.
  template <class Write>
  void attempt(Write write);

  EventPlace place_;
  std::optional<formats::EventFile> epochs_, steps_;
  double written_s_ = 0;
};

}  // namespace chexbench::bench
