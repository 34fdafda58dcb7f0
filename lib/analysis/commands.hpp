// Commands that findings suggest, ready for a shell. SPEC stands for the spec of the run, and DIR for the folder of its
// results.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::analysis {

// Returns the command that runs the experiment again, with `--set` before `setting` unless it is empty.
std::string run_again(const results::TrialResult& trial, const std::string& setting = "");

// Returns the command that measures the trial's pipeline again with `setting` for one of its ops, or "" if the pipeline
// is not built in, because its name alone then does not identify it.
std::string run_op_again(const results::TrialResult& trial, const std::string& setting);

// Returns the setting for several times the steps that the trial measured.
std::string more_steps(const results::TrialResult& trial);

// Advice, and the command that follows it. Both may be empty.
struct Advice {
  std::string advice;  // a clause
  std::string command;
};

// Advises which accelerator a measured input could feed: one whose built-in profile has a time for the training,
// preferably the V100, or else one that is still to be measured.
Advice accelerator_advice(const spec::TrialSpec& spec);

// Returns the command that searches for a faster input for this trial.
std::string advise_command(const results::TrialResult& trial);

// Returns `command` with the word SPEC replaced by the spec and the overrides of the run: those of its command line or,
// without --config there, those in the environment.
std::string with_spec_of(const results::Environment& environment, const std::string& command);

// Returns `command` with the word DIR replaced by the folder, unless that is empty.
std::string with_folder(const std::string& folder, const std::string& command);

}  // namespace chexbench::analysis
