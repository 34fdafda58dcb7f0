// Computes the summary of a network from its graph.
#pragma once

#include <string>

#include "verbs/model/model_summary.hpp"

namespace chexbench::verbs {

// Returns the summary of the network `name` for images of image_size x image_size; everything except chexbench_version
// is filled. A pure function.
// @throws SpecError if the name is unknown (the message suggests the nearest one), or the image size is too small for
// it
ModelSummary summarize_model(const std::string& name, int image_size);

}  // namespace chexbench::verbs
