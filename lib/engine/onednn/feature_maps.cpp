#include "engine/onednn/feature_maps.hpp"

#include <cstdint>

#include "core/half.hpp"

namespace chexbench::engine::onednn {

std::vector<float> read_maps(const Tensor& tensor, int images) {
  const View view = tensor.view();
  const auto* const floats = reinterpret_cast<const float*>(view.data);
  const auto* const halves = reinterpret_cast<const BFloat16*>(view.data);
  std::vector<float> values;
  for (int image = 0; image < images; ++image) {
    for (int channel = 0; channel < tensor.shape.channels; ++channel) {
      const std::int64_t first =
          image * view.image_stride + channel / tensor.block * view.block_stride + channel % tensor.block;
      for (int pixel = 0; pixel < tensor.shape.pixels(); ++pixel) {
        const std::int64_t place = first + pixel * view.pixel_stride;
        values.push_back(tensor.type == ElementType::bf16 ? to_float(halves[place]) : floats[place]);
      }
    }
  }
  return values;
}

}  // namespace chexbench::engine::onednn
