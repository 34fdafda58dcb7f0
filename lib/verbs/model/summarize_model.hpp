// A network as `chexbench model` tells of it.
#pragma once

#include <string>

#include "verbs/model/model_summary.hpp"

namespace chexbench::verbs {

// All fields but the version. @throws SpecError for an unknown name (with the nearest) or an image size that is too
// small for it
ModelSummary summarize_model(const std::string& name, int image_size);

}  // namespace chexbench::verbs
