// Groups of experiments that are equal, found without comparing each with each: a sweep may have 10,000 trials.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// Hashes every key of the table of keys, and the pipeline. Equal experiments have equal hashes.
struct TrialSpecHash {
  std::size_t operator()(const TrialSpec& experiment) const;
};

// Numbers experiments, so that equal ones have the same number.
class Numbering {
 public:
  // Returns how many different experiments came before the first one that equals this one.
  std::size_t of(TrialSpec experiment) {
    return numbers_.try_emplace(std::move(experiment), numbers_.size()).first->second;
  }

 private:
  std::unordered_map<TrialSpec, std::size_t, TrialSpecHash> numbers_;
};

// Sets a part of an experiment to its default, so that experiments that differ in nothing else are equal.
using LeaveOut = void (*)(TrialSpec& experiment);

// Leaves out the number of ranks, so that trials of one arm are equal.
void leave_out_ranks(TrialSpec& experiment);

// Things that have an experiment, in groups: those of one group are alike in all but what `leave_out` leaves out.
class Alike {
 public:
  explicit Alike(LeaveOut leave_out) : leave_out_(leave_out) {}

  // Adds the next thing.
  void add(const TrialSpec& experiment) { group_of(experiment).push_back(added_++); }

  // Returns the indices of the things that are alike with this one, in the order in which they were added.
  const std::vector<std::size_t>& with(const TrialSpec& experiment) { return group_of(experiment); }

 private:
  std::vector<std::size_t>& group_of(TrialSpec experiment) {
    leave_out_(experiment);
    const std::size_t group = numbering_.of(std::move(experiment));
    if (group == groups_.size()) groups_.emplace_back();
    return groups_[group];
  }

  LeaveOut leave_out_;
  Numbering numbering_;
  std::vector<std::vector<std::size_t>> groups_;
  std::size_t added_ = 0;
};

}  // namespace chexbench::spec
