// Argument checks shared by all engines that train, so that their error messages are worded alike.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/batch.hpp"
#include "model/weights.hpp"

namespace chexbench::engine {

// @throws SpecError if the tensor does not have exactly `values` values
void check_size(const model::TensorInfo& info, std::size_t values);

// Compares shape and number of labels with those that the engine was built for. `engine` is the engine's name in
// messages.
// @throws SpecError if they differ
void check_shape(std::string_view engine, const BatchShape& shape, const Batch& batch);
// Calls check_shape() and also requires a full batch (`valid` equals the number of images).
// @throws SpecError if the shape differs or the batch is not full
void check_batch(std::string_view engine, const BatchShape& shape, const Batch& batch);

}  // namespace chexbench::engine
