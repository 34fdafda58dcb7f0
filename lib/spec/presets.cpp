#include "spec/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/errors.hpp"
#include "spec/document.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/shipped.hpp"

namespace chexbench::spec {

std::span<const std::string> preset_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const EmbeddedFile& preset : embedded_pipelines()) result.emplace_back(preset.name);
    return result;
  }();
  return names;
}

PipelineSpec preset(const std::string& name) {
  for (const EmbeddedFile& candidate : embedded_pipelines()) {
    if (candidate.name == name) return parse_pipeline(std::string(candidate.text), name + ".json", name);
  }
  throw SpecError(fmt::format("no pipeline is called '{}'{}; a file's path contains a '/' or ends in .json",
                              shown(name), suggestion(name, preset_names())));
}

PipelineSpec find_pipeline(const std::string& name_or_path) {
  const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  if (!is_path) return preset(name_or_path);
  const std::string stem = std::filesystem::path(name_or_path).stem().string();
  return parse_pipeline(read_text_file(name_or_path, "pipeline"), name_or_path, stem);
}

PipelineSpec parse_pipeline(const std::string& text, const std::string& source, const std::string& default_name) {
  return pipeline_from(parse_document(text, source), source + ": pipeline", default_name);
}

}  // namespace chexbench::spec
