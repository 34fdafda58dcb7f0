// Reads the part of YAML that configuration files of DLIO use (see read_yaml()), and refuses the rest.
#pragma once

#include <string>
#include <vector>

namespace chexbench::verbs {

// A value of a YAML file.
struct YamlValue {
  std::string path;  // of its keys, and positions in lists: "reader.batch_size", "dataset.columns[0].name"
  std::string text;  // without quotes; empty for a key without a value
  int line = 0;      // from 1
};

// Returns the values of a YAML text in order. `source` names the text in errors.
//
// It understands mappings and lists by indentation, lists in brackets, plain and quoted text on one line, and comments.
// @throws SpecError with source and line for invalid YAML, for a key that occurs twice in a mapping, and for anything
// that this reader does not support: mappings in braces, anchors, tags, text of several lines, several documents
std::vector<YamlValue> read_yaml(const std::string& text, const std::string& source);

}  // namespace chexbench::verbs
