// Parses experiment files (JSON with comments) into specs. Everything that is not understood is an error, whose message
// gives the JSON path, what was expected and the nearest valid name.
#pragma once

#include <string>
#include <vector>

#include "spec/sweep.hpp"

namespace chexbench::spec {

// An experiment as it stands in its file.
struct SpecText {
  std::string source;  // names it in errors
  std::string text;
};

// Reads the experiment at a path, or of a name: what has neither a '/' nor ".json" names the file NAME or NAME.json of
// the working directory or, if there is none, configs/experiments/NAME.json as it is built into the binary.
// @throws SpecError if there is no experiment of that name (with the nearest one), or the file cannot be read
SpecText find_spec(const std::string& name_or_path);

// Returns the override that gives a key this text, whatever the text is: one that is not UTF-8 is never taken for JSON.
std::string text_override(const std::string& key, const std::string& text);

// Finds the experiment, applies `overrides` in their order, and checks all trials. An override is "key=value"; its
// value is JSON, or else text; null restores the default. Overriding a swept key takes it out of the sweep. Example:
// Folders that keep a chexbench-data.json are asked (folder_file.hpp).
//   load_spec("configs/experiments/naive-vs-optimized.json", {"data.root=/data/nih", "pipeline.map.parallel_calls=4"})
// @throws SpecError as find_spec(), and if the syntax is wrong (with line and column), a key is unknown or twice
// there, a value has the wrong type or is out of range, or options contradict each other
SweepSpec load_spec(const std::string& name_or_path, const std::vector<std::string>& overrides = {});

// Does the same for the text of a file; `source` names it in errors. @throws SpecError as load_spec() does
SweepSpec parse_spec(const std::string& text, const std::string& source,
                     const std::vector<std::string>& overrides = {});

// Who writes a spec may have mistyped a key. In results it is one of a newer chexbench, and had its effect there.
enum class UnknownKeys { refused, ignored };

// Parses one trial from the text that to_json() of resolved.hpp wrote, as journals and reports hold it, and reads no
// other file. `source` names the text in errors.
// @throws SpecError as load_spec() does, and if the text describes more than one trial
TrialSpec parse_trial(const std::string& text, const std::string& source, UnknownKeys unknown = UnknownKeys::refused);

}  // namespace chexbench::spec
