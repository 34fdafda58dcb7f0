// The columns that several CSV files share.
#pragma once

#include "results/field.hpp"
#include "results/labels.hpp"
#include "results/record.hpp"

namespace chexbench::report {

inline constexpr results::Field kExperiment{"experiment", "", "name of the experiment"};
inline constexpr results::Field kTrial{"trial", "", "name of the trial: what differs between the trials of the run"};
inline constexpr results::Field kRepeat{"repeat", "", "number of the repeat, from 0"};
inline constexpr results::Field kRank{"rank", "", "number of the rank, from 0"};
inline constexpr results::Field kCoresPerRank{"cores_per_rank", "cores", "cores of each rank"};
inline constexpr results::Field kEmulated{"emulated", "",
                                          "the engine computed nothing: its steps took the time of a profile"};

// Visits the columns that tell trials apart and begin trials.csv and repeats.csv.
template <class Visitor>
void visit_arm(Visitor& visit, const results::Report& report, const results::TrialResult& trial) {
  using results::Field;
  visit(kExperiment, report.experiment);
  visit(kTrial, trial.name);
  visit(Field{"pipeline", "", "name of the pipeline", "the batches are ready-made"},
        results::pipeline_name(trial.spec));
  visit(Field{"format", "", "format of the data"}, to_string(trial.spec.data.format));
  visit(Field{"model", "", "name of the network"}, trial.spec.model.name);
  visit(Field{"engine", "", "engine that took the batches"}, trial.spec.engine);
  visit(Field{"precision", "", "precision of the training"}, to_string(trial.spec.training.precision));
  visit(Field{"ranks", "", "ranks that measured the trial together"}, trial.ranks);
  visit(Field{"batch_size", "images", "images of one rank's batch"}, trial.spec.training.batch_size);
}

}  // namespace chexbench::report
