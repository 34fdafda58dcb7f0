// The table of the spec's scalar keys. It drives the parser, the resolved text, the error messages and
// configs/schema.json. Non-scalars are not in it: "pipeline", "sweep", and a list for "ranks".
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "spec/trial_spec.hpp"
#include "spec/values.hpp"

namespace chexbench::spec {

// The trials to which a key applies. Without a test it is all of them.
struct Condition {
  std::function<bool(const TrialSpec&)> test;
  std::string in_words;  // for messages: "training.optimizer is sgd"

  bool holds(const TrialSpec& trial) const { return !test || test(trial); }
};

// One key: its values, how to read and write it, and the trials to which it applies.
struct KeyRule {
  std::string path;         // "data.format"
  std::string description;  // for the schema
  ValueRule values;
  std::function<Value(const TrialSpec&)> get;
  std::function<void(TrialSpec&, const Value&)> set;  // takes a value checked by check_value()
  Condition stated_where;  // in other trials the key is ignored and left out of the resolved text; stating it is an
                           // error if it holds in no trial
  Condition swept_where;   // in other trials the key is kept and shown, but cannot be swept: the trials would be equal
};

// Returns the rules of all keys, in the order in which they are shown. The first call creates the table, which stays
// valid until the program ends. Thread-safe.
std::span<const KeyRule> key_rules();

// Returns the rule of the key `path`, or null if there is no such key.
const KeyRule* find_key(const std::string& path);

// Returns whether the trial's input runs through the pipeline, true for all formats except synthetic.
bool uses_pipeline(const TrialSpec& trial);
// Returns uses_pipeline() as a condition, for the pipeline and its ops' parameters.
const Condition& pipeline_condition();

// Returns whether a key has no effect in this trial only because its batches are ready-made (data.format synthetic).
// `key` may also be "pipeline" or an op's parameter.
bool lacks_input(const std::string& key, const TrialSpec& trial);

// Returns whether a key has no effect in this trial only because it has no second job. Such a trial is a baseline for
// others that have one, and does not depend on the job's settings.
bool lacks_second_job(const std::string& key, const TrialSpec& trial);

// Returns whether a second job runs alongside the trial.
bool has_second_job(const TrialSpec& trial);
// Returns whether the second job trains on an engine.
bool second_job_trains(const SecondJobSpec& job);

// The folder that the second job reads: second_job.root where its kind takes one, else the trial's.
const std::string& second_job_root(const TrialSpec& trial);

// Returns whether data.root is a URL, so that the data set is on a server.
bool is_distant(const TrialSpec& trial);

// The name of an emulated engine is this, followed by the profile of its accelerator.
inline constexpr std::string_view kEmulatedPrefix = "emulated:";

// Returns whether an engine uses the trial's batches: engine none drops them, so its waits are meaningless.
bool has_engine(const TrialSpec& trial);

// Returns whether the trial's engine is an emulated one.
bool is_emulated(const TrialSpec& trial);

// Returns whether gradients are really sent between processes (models real and shaped).
bool sends_gradients(CommModel model);

}  // namespace chexbench::spec
