// The file chexbench-data.json, which describes the labels of its folder, so that no command has to repeat this.
#pragma once

#include <string>
#include <vector>

#include "spec/sweep.hpp"

namespace chexbench::spec {

inline constexpr const char* kFolderFileName = "chexbench-data.json";

// Returns the path of a root's file, whether it exists or not.
std::string folder_file_in(const std::string& root);

// Returns the path of the file in the folder `root`, or "" if it has none or is a URL. Thread-safe.
std::string folder_file(const std::string& root);

// Returns the settings of such a file: the section "data" of a spec, limited to data.layout and data.labels. @throws
// SpecError if it cannot be read, is wrong, has other keys, or names a table outside the folder
std::vector<Setting> read_folder_file(const std::string& path);

// Returns the text of such a file for these settings; defaults are left out.
std::string folder_file_text(DataLayout layout, const LabelsSpec& labels);

}  // namespace chexbench::spec
