#include "engine/onednn/winograd.hpp"

#include <algorithm>
#include <cstdint>

namespace chexbench::engine::onednn {
namespace {

// Both from measurements of oneDNN 2.6.3 on a Xeon, of ResNet50's, DenseNet121's, VGG16's and Inception v3's layers.
// With fewer pixels in all images, the transformation of the weights costs as much as it saves.
constexpr std::int64_t kPixels = 768;
// With fewer products per element of a window, its passes begin and end too often: as long as DenseNet121's 16 x 7x7 of
// 128 and 32 channels.
constexpr std::int64_t kProducts = 12'000'000;

}  // namespace

bool is_winograd_faster(const Device& device, const model::Layer& layer, const Tensor& source,
                        const Tensor& destination) {
  if (device.type != ElementType::f32 || source.layout != Layout::blocked) return false;
  if (layer.kernel != 3 || layer.stride != 1 || layer.groups != 1) return false;
  const std::int64_t inputs = source.shape.channels, outputs = destination.shape.channels;
  const std::int64_t pixels = std::int64_t{destination.shape.images} * destination.shape.pixels();
  if (inputs % device.block != 0 || outputs % device.block != 0) return false;
  return std::min(inputs, outputs) >= 32 && pixels >= kPixels && pixels * inputs * outputs >= kProducts;
}

}  // namespace chexbench::engine::onednn
