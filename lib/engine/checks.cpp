#include "engine/checks.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"

namespace chexbench::engine {

void check_size(const model::TensorInfo& info, std::size_t values) {
  if (static_cast<std::size_t>(info.count()) == values) return;
  throw SpecError(fmt::format("'{}' has {} values, not {}", info.name, info.count(), values));
}

void check_shape(std::string_view engine, const BatchShape& shape, const Batch& batch) {
  if (batch.shape.labels != shape.labels) {
    throw SpecError(fmt::format("engine '{}': it was built for {} labels, the batch has {}", engine, shape.labels,
                                batch.shape.labels));
  }
  if (!(batch.shape == shape)) {
    throw SpecError(fmt::format("engine '{}': it was built for {} images of {}x{}, the batch holds {} of {}x{}", engine,
                                shape.images, shape.height, shape.width, batch.shape.images, batch.shape.height,
                                batch.shape.width));
  }
}

void check_batch(std::string_view engine, const BatchShape& shape, const Batch& batch) {
  check_shape(engine, shape, batch);
  if (batch.valid != shape.images) {
    throw SpecError(fmt::format("engine '{}': the batch holds {} of {} images; set drop_remainder in the pipeline",
                                engine, batch.valid, shape.images));
  }
}

}  // namespace chexbench::engine
