#include "engine/onednn/winograd.hpp"

namespace chexbench::engine::onednn {
namespace {

// Pixels of all images from which on the transformation of the weights is small against what is saved. With fewer,
// such as ResNet50's last 16 x 7x7, the algorithms take the same time or Winograd's takes up to five times as long.
constexpr int kPixels = 1024;

}  // namespace

bool is_winograd_faster(const Device& device, const model::Layer& layer, const Tensor& source,
                        const Tensor& destination) {
  return device.type == ElementType::f32 && source.layout == Layout::blocked && layer.kernel == 3 &&
         layer.stride == 1 && layer.groups == 1 && source.shape.channels >= 32 && destination.shape.channels >= 32 &&
         destination.shape.images * destination.shape.pixels() >= kPixels;
}

}  // namespace chexbench::engine::onednn
