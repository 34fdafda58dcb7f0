// The one table of the spec's scalar keys. It drives the parser, the resolved text, the error messages and
// configs/schema.json. Not in it, because they are no scalars: pipeline, sweep, and the list that ranks may be.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "spec/experiment.hpp"
#include "spec/values.hpp"

namespace chexbench::spec {

// Which trials a key has a meaning in. Empty: all.
struct Condition {
  std::function<bool(const Experiment&)> test;
  std::string in_words;  // "training.optimizer is sgd"

  bool holds(const Experiment& experiment) const { return !test || test(experiment); }
};

struct KeyRule {
  std::string path;  // "data.format"
  std::string description;
  ValueRule values;
  std::function<Value(const Experiment&)> get;
  std::function<void(Experiment&, const Value&)> set;  // the value has passed check_value()
  Condition stated_where;  // elsewhere it would be ignored: stating it is an error, and the resolved text lacks it
  Condition swept_where;   // elsewhere it is kept and shown, but its values would all give the same trial
};

// All of them, in the order in which they are shown.
std::span<const KeyRule> key_rules();

// The rule of a key, or null.
const KeyRule* find_key(const std::string& path);

// Whether the trial's input runs through the pipeline: all formats but synthetic.
bool uses_pipeline(const Experiment& experiment);
// The same, for the pipeline and the parameters of its ops.
const Condition& pipeline_condition();

// Whether the data set is asked from a server: data.root is an URL.
bool is_distant(const Experiment& experiment);

// Whether the trial's engine is an emulated one.
bool is_emulated(const Experiment& experiment);

// Whether gradients go between processes, as those of real engines do: over links as they are, or slowed down.
bool sends_gradients(CommModel model);

// Bytes of a gradient between ranks.
std::size_t gradient_bytes(GradientDtype dtype);

}  // namespace chexbench::spec
