// A spec whose keys may have several values, its expansion into trials, and checks for options that are each valid but
// conflict. Such a spec is an error; chexbench never chooses silently.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "spec/ops.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::spec {

// The value of a key. Only the key "pipeline" has a PipelineSpec.
using SettingValue = std::variant<bool, std::int64_t, double, std::string, PipelineSpec>;

// A key with one value. The key is a scalar key ("data.format", "ranks"), "pipeline", or a parameter of an op
// ("pipeline.map.parallel_calls"). If a pipeline contains an op several times, "pipeline.shuffle[1].buffer" refers to
// the second.
struct Setting {
  std::string key;
  SettingValue value;
};

// The points of a sweep, one of which each trial gets: a value of a swept key, or one of each key in a zip. All points
// have the same keys in the same order.
struct Axis {
  std::vector<std::vector<Setting>> points;
};

// An experiment as its file states it. The values have been checked against the tables of keys and ops, but not against
// each other.
struct SweepSpec {
  TrialSpec base;                                       // the keys that are not swept
  std::vector<Setting> op_settings;                     // parameters of ops that are set in the pipeline of every trial
  std::vector<Axis> axes;                               // in the order of the file; the last one varies fastest
  std::vector<std::vector<Setting>> excluded;           // no trial has all settings of one of these
  std::set<std::string> stated;                         // the keys stated outside the sweep
  std::map<std::string, std::vector<Setting>> folders;  // by data.root: the settings of the folder's file; stated
                                                        // or swept ones take precedence
};

// One combination of the axes' values.
struct Trial {
  std::string name;  // the swept values, "naive images ranks=2"; if nothing is swept, pipeline and format, or "ready"
  TrialSpec spec;
};

// The largest number of trials that one spec may have.
inline constexpr std::size_t kMostTrials = 100'000;

// Returns the value as a scalar, for the tables and for a trial's name; a pipeline becomes its name.
ParameterValue scalar(const SettingValue& value);

// Returns one trial for each combination of the axes' values that is not excluded (one trial if there are no axes),
// checked for contradictions. Combinations that differ only in the input of ready-made batches (data.format ready),
// such as their pipeline, are one trial, whose name and input do not have these settings. A trial whose root is in
// SweepSpec::folders gets those of its settings that are not otherwise given, or none if another data.layout is stated.
// @throws SpecError if a trial's pipeline lacks an op whose parameter is set, options contradict each other, a swept
// key has no effect in another trial, all trials are excluded, or there are more than kMostTrials
std::vector<Trial> expand(const SweepSpec& sweep);

// Checks the options of one trial against each other.
// @throws SpecError if two options contradict each other; the message names both and says how to fix it
void check_trial(const TrialSpec& trial);

// Checks that an experiment's name can be the name of a folder: letters, digits, '-', '_' and '.', not beginning with
// '.'.
// @throws SpecError if it cannot
void check_name(const std::string& name);

// Checks that every swept key has an effect in every trial; otherwise trials would be the same. A trial over ready-made
// batches is a single trial and exempt from keys of the input, unless all trials are of this kind.
// @throws SpecError if a key has none; the message names the axis and the trial
void check_axes(const SweepSpec& sweep, std::span<const Trial> trials);

// Checks that `key`, which the spec states at `path` (used in the message), applies to at least one trial. Keys of ops
// are not checked here.
// @throws SpecError if it would be ignored in all trials
void check_stated(const std::string& key, const std::string& path, std::span<const Trial> trials);

}  // namespace chexbench::spec
