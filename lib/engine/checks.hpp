// What every engine that trains refuses, in the same words.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/batch.hpp"
#include "model/tensor_info.hpp"

namespace chexbench::engine {

// @throws SpecError where the tensor has another number of values
void check_size(const model::TensorInfo& info, std::size_t values);

// @throws SpecError where the batch is of another shape than the engine was built for
void check_shape(std::string_view engine, const BatchShape& shape, const Batch& batch);
// The same, and where it is not full.
void check_batch(std::string_view engine, const BatchShape& shape, const Batch& batch);

}  // namespace chexbench::engine
