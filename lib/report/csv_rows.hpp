// The rows of the CSV files, for csv.cpp: each function adds those of one file.
#pragma once

#include "analysis/evaluation.hpp"
#include "report/csv_table.hpp"
#include "results/labels.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// The first columns, up to `emulated`, keep their places; programs find the others by their names.
void add_trials(CsvTable& table, const analysis::Evaluation& evaluation);
void add_repeats(CsvTable& table, const analysis::Evaluation& evaluation);  // disturbed ones included
void add_steps(CsvTable& table, const analysis::Evaluation& evaluation);
void add_ops(CsvTable& table, const analysis::Evaluation& evaluation);
void add_waits(CsvTable& table, const analysis::Evaluation& evaluation);
void add_throttle(CsvTable& table, const analysis::Evaluation& evaluation);
void add_notes(CsvTable& table, const analysis::Evaluation& evaluation);
void add_epochs(CsvTable& table, const analysis::Evaluation& evaluation);
void add_aurocs(CsvTable& table, const analysis::Evaluation& evaluation);
void add_roc(CsvTable& table, const analysis::Evaluation& evaluation);
void add_reliability(CsvTable& table, const analysis::Evaluation& evaluation);
void add_gpu(CsvTable& table, const analysis::Evaluation& evaluation);
void add_gpu_throttle(CsvTable& table, const analysis::Evaluation& evaluation);

// The columns that several CSV files share.

inline constexpr results::Field kExperiment{"experiment", "", "name of the experiment"};
inline constexpr results::Field kTrial{"trial", "", "name of the trial: what differs between the trials of the run"};
inline constexpr results::Field kRepeat{"repeat", "", "number of the repeat, from 0"};
inline constexpr results::Field kCoresPerRank{"cores_per_rank", "cores", "cores of each rank"};
inline constexpr results::Field kEmulated{"emulated", "",
                                          "the engine computed nothing: its steps took the time of a profile"};

// Adds the cells that identify trials, at the start of the rows of trials.csv and repeats.csv.
inline void add_arm(CsvTable& table, const results::Report& report, const results::TrialResult& trial) {
  using results::Field;
  table(kExperiment, report.experiment);
  table(kTrial, trial.name);
  table(Field{"pipeline", "", "name of the pipeline", "the batches are ready-made"},
        results::pipeline_name(trial.spec));
  table(Field{"format", "", "format of the data"}, to_string(trial.spec.data.format));
  table(Field{"model", "", "name of the network"}, trial.spec.model.name);
  table(Field{"engine", "", "engine that took the batches"}, trial.spec.engine);
  table(Field{"precision", "", "precision of the training"}, to_string(trial.spec.training.precision));
  table(Field{"ranks", "", "ranks that measured the trial together"}, trial.ranks);
  table(Field{"batch_size", "images", "images of one rank's batch"}, trial.spec.training.batch_size);
}

}  // namespace chexbench::report
