// The table of the spec's scalar keys. It drives the parser, the resolved text, the error messages and
// configs/schema.json. Non-scalars are not in it: "pipeline", "sweep", and a list for "ranks".
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "spec/trial_spec.hpp"
#include "spec/values.hpp"

namespace chexbench::spec {

// The trials to which a key applies. Without a test it is all of them.
struct Condition {
  bool (*test)(const TrialSpec&) = nullptr;
  const char* in_words = "";  // for messages: "training.optimizer is sgd"

  bool holds(const TrialSpec& trial) const { return test == nullptr || test(trial); }
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

// Returns whether the trial's input runs through the pipeline, true for all formats except ready.
inline bool uses_pipeline(const TrialSpec& trial) { return trial.data.format != DataFormat::ready; }
// The same as a condition, for the keys of the input, the pipeline and its ops' parameters.
inline constexpr Condition kUsesPipeline{uses_pipeline, "data.format is not 'ready'"};

// Returns whether a key has no effect in this trial only because its batches are ready-made (data.format ready).
// `key` may also be "pipeline" or an op's parameter.
bool lacks_input(const std::string& key, const TrialSpec& trial);

// Returns whether a key has no effect in this trial only because it has no second job. Such a trial is a baseline for
// others that have one, and does not depend on the job's settings.
bool lacks_second_job(const std::string& key, const TrialSpec& trial);

// Returns whether a second job runs alongside the trial.
inline bool has_second_job(const TrialSpec& trial) { return trial.second_job.kind != SecondJobKind::none; }
// Returns whether the second job trains on an engine.
inline bool second_job_trains(const SecondJobSpec& job) {
  return job.kind == SecondJobKind::training || job.kind == SecondJobKind::both;
}

// The folder that the second job reads: second_job.root where its kind takes one, else the trial's.
const std::string& second_job_root(const TrialSpec& trial);

// Returns whether data.root is a URL, so that the data set is on a server.
inline bool is_distant(const TrialSpec& trial) { return is_url(trial.data.root); }

// The name of an emulated engine is this, followed by the profile of its accelerator.
inline constexpr std::string_view kEmulatedPrefix = "emulated:";

// Returns whether an engine uses the trial's batches: engine none drops them, so its waits are meaningless.
inline bool has_engine(const TrialSpec& trial) { return trial.engine != "none"; }

// Returns whether the trial's engine is an emulated one.
inline bool is_emulated(const TrialSpec& trial) { return trial.engine.starts_with(kEmulatedPrefix); }

// Returns whether gradients are really sent between processes (models real and shaped).
inline bool sends_gradients(CommModel model) { return model == CommModel::real || model == CommModel::shaped; }

}  // namespace chexbench::spec
