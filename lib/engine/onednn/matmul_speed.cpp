#include "engine/onednn/matmul_speed.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/clock.hpp"
#include "engine/onednn/primitive_descs.hpp"

namespace chexbench::engine::onednn {

double matmul_gflops(const Device& device) {
  constexpr int kSide = 2048;
  constexpr int kTries = 6;
  using dnnl::memory;
  const memory::dims sides{kSide, kSide};
  const memory::desc any(sides, device.data_type(), memory::format_tag::any);
  const auto desc = describe<dnnl::matmul>(device.engine, {}, any, any, any);
  memory a(desc.src_desc(), device.engine), b(desc.weights_desc(), device.engine), c(desc.dst_desc(), device.engine);
  // Uninitialized memory could hold denormal numbers, which are slow; zeros are as fast as ordinary numbers.
  for (const memory* operand : {&a, &b}) {
    auto* const bytes = static_cast<std::byte*>(operand->get_data_handle());
    std::fill_n(bytes, operand->get_desc().get_size(), std::byte{0});
  }
  const dnnl::matmul matmul(desc);
  const std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
  double best_s = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const double begin_s = now_s();
    matmul.execute(device.stream, arguments);
    best_s = std::min(best_s, now_s() - begin_s);
  }
  return 2.0 * kSide * kSide * kSide / best_s * 1e-9;
}

}  // namespace chexbench::engine::onednn
