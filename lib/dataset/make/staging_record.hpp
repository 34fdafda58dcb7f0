// The record that a staging leaves in its folder.
#pragma once

#include <string>

#include "dataset/make/stage.hpp"

namespace chexbench::dataset {

// FOLDER/staged-SPLIT-FORMAT.json
std::string staging_record_path(const std::string& folder, spec::Split split, spec::DataFormat format);

// To staging.record. @throws OutputError
void write_staging_record(const Staging& staging, const spec::DataSpec& spec);

}  // namespace chexbench::dataset
