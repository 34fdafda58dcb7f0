// Writes a resolved trial as JSON. Every run prints this text, reports contain it, and the journal's keys are hashes of
// it. Also finds the keys of older versions, makes a slower copy of a trial, and groups trials that are alike.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Returns the trial as indented JSON, one op per line, without a newline at the end. It contains every key that applies
// to this trial (no momentum with adam), in the order of configs/schema.json, and the pipeline as its op list.
// parse_trial() restores the same trial.
std::string to_json(const TrialSpec& trial);

// Returns the pipeline in the form of configs/pipelines: {"name": ..., "ops": [...]}, without a newline at the end.
// parse_pipeline() restores the same pipeline.
std::string to_json(const PipelineSpec& pipeline);

// Returns a key of a trial: 16 hexadecimal digits, the FNV-1a hash of its JSON and of `extra` (other inputs to the
// results). It is the same on every machine and independent of the experiment's name. See trial_keys() for the keys
// of older versions.
std::string trial_key(const TrialSpec& trial, std::string_view extra = {}, std::span<const std::string> left_out = {});

// Returns the links of comm.alpha_s and comm.beta_bytes_per_s, `factor` times as slow; engine/step_plan.hpp slows
// modelled ones. Pure, like slowed() of an experiment.
CommSpec slowed(CommSpec comm, double factor);

// Returns the experiment with links, shaped stores and planted delays `factor` times as slow, and with a worker for
// each core of the model where there would be one for each core here. Engines slow themselves down
// (engine::EngineConfig::slowdown).
TrialSpec slowed(TrialSpec trial, double factor);

// Groups of equal experiments, found without comparing all pairs: a sweep may have 10,000 trials.

// Hashes every key of the table of keys, and the pipeline. Equal experiments have equal hashes.
struct TrialSpecHash {
  std::size_t operator()(const TrialSpec& trial) const;
};

// Numbers experiments; equal ones get the same number.
class Numbering {
 public:
  // Returns how many different experiments came before the first one that equals this one.
  std::size_t of(TrialSpec trial) { return numbers_.try_emplace(std::move(trial), numbers_.size()).first->second; }

 private:
  std::unordered_map<TrialSpec, std::size_t, TrialSpecHash> numbers_;
};

// Sets a part of an experiment to its default, so that experiments that differ in nothing else are equal.
using LeaveOut = void (*)(TrialSpec& trial);

// Leaves out the number of ranks, so that trials of one arm are equal.
void leave_out_ranks(TrialSpec& trial);

// Groups items by their experiment: items of a group differ at most in the part that `leave_out` resets.
class Alike {
 public:
  explicit Alike(LeaveOut leave_out) : leave_out_(leave_out) {}

  // Adds the next item.
  void add(const TrialSpec& trial) { group_of(trial).push_back(added_++); }

  // Returns the indices of the items of the same group, in the order in which they were added.
  const std::vector<std::size_t>& with(const TrialSpec& trial) { return group_of(trial); }

 private:
  std::vector<std::size_t>& group_of(TrialSpec trial) {
    leave_out_(trial);
    const std::size_t group = numbering_.of(std::move(trial));
    if (group == groups_.size()) groups_.emplace_back();
    return groups_[group];
  }

  LeaveOut leave_out_;
  Numbering numbering_;
  std::vector<std::vector<std::size_t>> groups_;
  std::size_t added_ = 0;
};

// Returns the keys added to the spec since its first version, one list per version that added any, oldest first. The
// default of each one is the behaviour of older versions.
std::span<const std::vector<std::string>> added_keys();

// Returns trial_key(), followed by the keys of the same trial in older versions, which lacked keys that the trial
// leaves at their defaults; newest version first. So this version can continue their runs and trainings. No two
// different trials share one of them.
std::vector<std::string> trial_keys(const TrialSpec& trial, std::string_view extra = {});

}  // namespace chexbench::spec
