// Finds pipelines: the named ones of configs/pipelines, which are built into the binary, and files.
#pragma once

#include <span>
#include <string>

#include "spec/ops.hpp"

namespace chexbench::spec {

// Returns the names of the built-in pipelines, sorted: the files of configs/pipelines without ".json". Thread-safe.
std::span<const std::string> preset_names();

// Returns a built-in pipeline, with all its parameters.
// @throws SpecError if there is no such name; the message suggests the nearest one
PipelineSpec preset(const std::string& name);

// Returns the pipeline that `name_or_path` names: a built-in one, or that of a file if it contains a '/' or ends in
// ".json". A path is relative to the working directory, and a list without a name gets the file's.
// @throws SpecError if there is no such pipeline, or if the file cannot be read or is not a valid pipeline
PipelineSpec find_pipeline(const std::string& name_or_path);

// Parses a pipeline from JSON: {"name": "...", "ops": [...]}, or the list of ops alone, which is then called
// `default_name`. `source` names the text in errors.
// @throws SpecError if the text is not JSON or not a valid pipeline
PipelineSpec parse_pipeline(const std::string& text, const std::string& source,
                            const std::string& default_name = "custom");

}  // namespace chexbench::spec
