// Parses experiment files (JSON with comments) into specs. Anything not understood is an error, whose message includes
// the JSON path, the expected value and the nearest valid name. Also describes such files by a schema, for editors.
#pragma once

#include <string>
#include <vector>

#include "spec/sweep.hpp"

namespace chexbench::spec {

// The text of an experiment.
struct SpecText {
  std::string source;  // names it in errors
  std::string text;
};

// Reads the experiment at a path or with a name: without '/' and ".json" it is the file NAME or NAME.json in the
// working directory or, if there is none, configs/experiments/NAME.json as built into the binary.
// @throws SpecError if there is no such experiment (with the nearest one), or the file cannot be read
SpecText find_spec(const std::string& name_or_path);

// Returns the override that sets a key to any text: non-UTF-8 text is never parsed as JSON.
std::string text_override(const std::string& key, const std::string& text);

// Finds the experiment, applies `overrides` in their order, and checks all trials. An override is "key=value"; its
// value is JSON, or else text; null restores the default. Overriding a swept key takes it out of the sweep. Also reads
// chexbench-data.json in the trials' folders (folder_file.hpp). Example:
//   load_spec("configs/experiments/naive-vs-optimized.json", {"data.root=/data/nih", "pipeline.map.parallel_calls=4"})
// @throws SpecError as find_spec(), and if the syntax is wrong (with line and column), a key is unknown or duplicate, a
// value has the wrong type or is out of range, or options contradict each other
SweepSpec load_spec(const std::string& name_or_path, const std::vector<std::string>& overrides = {});

// Does the same for the text of a file; `source` names it in errors. @throws SpecError as load_spec() does
SweepSpec parse_spec(const std::string& text, const std::string& source,
                     const std::vector<std::string>& overrides = {});

// An unknown key in a spec may be a typo. In results it comes from a newer chexbench, where it had an effect.
enum class UnknownKeys { refused, ignored };

// Parses one trial from the output of to_json() (resolved.hpp), as found in journals and reports. Reads no other file.
// `source` names the text in errors.
// @throws SpecError as load_spec() does, and if the text describes more than one trial
TrialSpec parse_trial(const std::string& text, const std::string& source, UnknownKeys unknown = UnknownKeys::refused);

// Returns a JSON schema (draft 2020-12) of experiment files, with a newline at the end. It is made from the tables that
// drive the parser and contains the keys with their types, words, ranges, defaults and descriptions, and the ops with
// their parameters. A test checks that configs/schema.json matches.
std::string schema_text();

}  // namespace chexbench::spec
