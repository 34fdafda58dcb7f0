// Where oneDNN computes a convolution with Winograd's algorithm instead of directly: Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", CVPR 2016. For 3x3 windows it takes a quarter of the multiplications, and
// transforms tiles of 4x4 pixels and all weights before and after them.
#pragma once

#include <dnnl.hpp>
#include <string_view>

#include "engine/onednn/planner.hpp"
#include "model/graph.hpp"

namespace chexbench::engine::onednn {

// Whether it is likely faster, if oneDNN has it: oneDNN 2 with AVX-512 only, as with_winograd() finds out.
bool is_winograd_faster(const Device& device, const model::Layer& layer, const Tensor& source,
                        const Tensor& destination);

// Whether that is oneDNN's name of such an implementation: "jit_wino_4x3:avx512_core".
inline bool is_winograd(std::string_view implementation) {
  return implementation.find("wino") != std::string_view::npos;
}

// Returns make(algorithm, allow_empty), a descriptor of a primitive: with Winograd's algorithm if `wanted` and oneDNN
// has it, otherwise with the direct one. Lets dnnl::error through.
template <typename Make>
auto with_winograd(bool wanted, const Make& make) {
  if (wanted) {
    if (auto desc = make(dnnl::algorithm::convolution_winograd, true)) return desc;
  }
  return make(dnnl::algorithm::convolution_direct, false);
}

}  // namespace chexbench::engine::onednn
