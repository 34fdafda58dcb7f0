// What TensorBoard shows of a training over epochs, while it goes on: curves by epoch, and by step.
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

// Where the event files of trainings go.
struct EventPlace {
  std::string folder;  // empty: none are written
  std::string host;    // of this rank, for the names of files
  // Called once for a training whose event files could not be written to, and end there. May be empty.
  std::function<void(const OutputError&)> on_failure;
};

// What the steps of an epoch were like, over all ranks.
struct EpochSteps {
  double mean_loss = 0;
  double images_per_s = 0;
  double wait_share = 0;
};

// The curves have two x-axes, which are two runs of TensorBoard because it drops by x what a resumed training repeats:
// epochs in the folder itself, and steps in its folder `steps`. A training must not end because nobody can look at it,
// so nothing here throws OutputError. Not thread-safe.
class EpochEvents {
 public:
  // The training has done so many epochs and steps in earlier runs. Writes nothing if the place has no folder.
  EpochEvents(EventPlace place, std::int64_t epochs_done, std::int64_t steps_done);

  // Adds a step, which is the `number`-th of the training, from 1. Goes into the file every few seconds. The rate is
  // that of `ranks` as fast as this one.
  void add_step(std::int64_t number, const measure::StepTimings& timings, double learning_rate, int ranks);
  // Adds an epoch, and has all that was added until then on storage. Call it before the epoch's checkpoint is written:
  // a training that goes on from there has no other place for it.
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
