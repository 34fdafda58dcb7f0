// The one table of the spec's scalar keys. It drives the parser, the resolved text, the error messages and
// configs/schema.json. Not in it, because they are no scalars: pipeline, sweep, and the list that ranks may be.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "spec/experiment.hpp"
#include "spec/values.hpp"

namespace chexbench::spec {

struct KeyRule {
  std::string path;  // "data.format"
  std::string description;
  ValueRule values;
  std::function<Value(const Experiment&)> get;
  std::function<void(Experiment&, const Value&)> set;  // the value has passed check_value()
  std::function<bool(const Experiment&)> applies;      // whether the key has a meaning in a trial; empty: always
  std::string applies_when;                            // in words, "training.optimizer is sgd"
  bool silent_default = true;  // where it does not apply: its value is kept and shown, and stating it is no error
};

// All of them, in the order in which they are shown.
std::span<const KeyRule> key_rules();

// The rule of a key, or null.
const KeyRule* find_key(const std::string& path);

// Whether the trial's input runs through the pipeline: all formats but synthetic.
bool uses_pipeline(const Experiment& experiment);

// Whether the trial's engine is an emulated one.
bool is_emulated(const Experiment& experiment);

}  // namespace chexbench::spec
