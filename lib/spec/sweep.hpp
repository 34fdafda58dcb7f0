// A spec whose keys may have several values, and the trials that come of it.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "spec/experiment.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {

// What a key can be set to; a PipelineSpec for the key "pipeline" alone.
using SettingValue = std::variant<bool, std::int64_t, double, std::string, PipelineSpec>;

// One key's values: "data.format", "ranks", "pipeline", or a parameter of an op, "pipeline.map.parallel_calls". Where
// a pipeline has an op several times, "pipeline.shuffle[1].buffer" means the second one.
struct Axis {
  std::string key;
  std::vector<SettingValue> values;
};

struct Setting {
  std::string key;
  SettingValue value;
};

// An experiment as its file says it. Values are checked against the key table already.
struct SweepSpec {
  Experiment base;
  std::vector<Setting> op_settings;  // parameters of ops to change in whatever pipeline a trial has
  std::vector<Axis> axes;            // in the order written; the last one varies fastest
};

struct Trial {
  std::string name;  // the values of the swept keys, "naive png ranks=2"; pipeline and format where nothing is swept
  Experiment experiment;
};

// Of one spec.
inline constexpr std::size_t kMostTrials = 100'000;

// The value as the key table and the op table take it: a pipeline as its name. Trials are named by it.
ParameterValue scalar(const SettingValue& value);

// The cartesian product of the axes over the base, each trial checked for contradictions.
// @throws SpecError: an op parameter that a trial's pipeline lacks, or options that contradict each other
std::vector<Trial> expand(const SweepSpec& sweep);

}  // namespace chexbench::spec
