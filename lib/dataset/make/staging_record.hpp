// The record that a staging leaves in its folder: a JSON file that says what was copied and how long it took.
#pragma once

#include <string>

#include "dataset/make/stage.hpp"

namespace chexbench::dataset {

// Returns FOLDER/staged-SPLIT-FORMAT.json, the path of the record.
std::string staging_record_path(const std::string& folder, spec::Split split, spec::DataFormat format);

// Writes the record to the path staging.record. @throws OutputError if it cannot be written
void write_staging_record(const Staging& staging, const spec::DataSpec& spec);

}  // namespace chexbench::dataset
