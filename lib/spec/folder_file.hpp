// The file in which a folder keeps how it holds its labels, chexbench-data.json, so that no command has to repeat it.
#pragma once

#include <string>
#include <vector>

#include "spec/sweep.hpp"

namespace chexbench::spec {

inline constexpr const char* kFolderFileName = "chexbench-data.json";

// Returns the path that the file of a root has, whether there is one or not.
std::string folder_file_in(const std::string& root);

// Returns the path of the file in the folder `root`, or "" if it has none or is a URL. Thread-safe.
std::string folder_file(const std::string& root);

// Returns the settings of such a file: the section "data" of a spec, of which only data.layout and data.labels belong
// there. @throws SpecError if it cannot be read, is wrong, has other keys, or names a table outside the folder
std::vector<Setting> read_folder_file(const std::string& path);

// Returns the text of a file that says what these settings of data.layout and data.labels say; defaults are left out.
std::string folder_file_text(DataLayout layout, const LabelsSpec& labels);

}  // namespace chexbench::spec
