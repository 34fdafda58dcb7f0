// The named pipelines of configs/pipelines, built into the binary.
#pragma once

#include <span>
#include <string>

#include "spec/ops.hpp"

namespace chexbench::spec {

// Their names, in order: keras, naive, optimized, pytorch.
std::span<const std::string> preset_names();

// A named pipeline, all parameters spelled out. @throws SpecError naming the nearest one
PipelineSpec preset(const std::string& name);

// The pipeline that `name_or_path` stands for: a preset's name, or the path of a file (it contains a '/' or ends in
// ".json"), relative to the working directory. @throws SpecError: no such preset or file, or a bad op list in it
PipelineSpec find_pipeline(const std::string& name_or_path);

// An op list as JSON text: {"name": "...", "ops": [...]} or the list alone, which is then called `default_name`.
// `source` names the text in errors. @throws SpecError
PipelineSpec parse_pipeline(const std::string& text, const std::string& source,
                            const std::string& default_name = "custom");

}  // namespace chexbench::spec
