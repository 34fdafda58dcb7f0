#include "engine/onednn/device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

#include "core/cpu_features.hpp"
#include "core/errors.hpp"
#include "engine/onednn/kernels.hpp"
#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {
namespace {

// oneDNN's instruction sets are bit masks: a set includes every set whose bits are a subset of its bits.
bool onednn_has(dnnl::cpu_isa isa) {
  const auto bits = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

Isa choose_isa() {
  const Isa isa = best_isa(cpu_features());
  // CHEXBENCH_ISA lowers the whole engine, oneDNN included. Once oneDNN has run it refuses this call, which is
  // harmless.
  if (isa != Isa::avx512) dnnl::set_max_cpu_isa(isa == Isa::avx2 ? dnnl::cpu_isa::avx2 : dnnl::cpu_isa::sse41);
  if (isa == Isa::avx512 && onednn_has(dnnl::cpu_isa::avx512_core)) return Isa::avx512;
  return isa != Isa::baseline && onednn_has(dnnl::cpu_isa::avx2) ? Isa::avx2 : Isa::baseline;
}

FloatType element_type(spec::Precision precision) {
  if (precision == spec::Precision::f32) return FloatType::f32;
  const bool has_bf16 = cpu_features().avx512_bf16 && onednn_has(dnnl::cpu_isa::avx512_core_bf16);
  if (precision == spec::Precision::bf16 && has_bf16) return FloatType::bf16;
  throw DeviceError(fmt::format("engine 'onednn': {} cannot train in {}; training.precision may be {} here",
                                cpu_features().model, to_string(precision), has_bf16 ? "f32 or bf16" : "f32"));
}

// Whether NHWC serves the network: kernels take `block` channels at once, and oneDNN has no AMX for depthwise
// convolutions. Other layers have the channels of one convolution, or of several together.
bool fits_channels_last(const model::Graph& graph, int block) {
  return std::ranges::all_of(graph.layers, [block](const model::Layer& layer) {
    return layer.kind != model::LayerKind::convolution || (layer.groups == 1 && layer.channels % block == 0);
  });
}

const KernelTables& tables(Isa isa) {
  return isa == Isa::avx512 ? kAvx512Kernels : (isa == Isa::avx2 ? kAvx2Kernels : kBaselineKernels);
}

}  // namespace

bool has_amx() { return cpu_features().amx_bf16 && onednn_has(dnnl::cpu_isa::avx512_core_amx); }

Device fit_to_network(Device device, const model::Graph& graph) {
  if (device.type != FloatType::bf16 || !has_amx()) return device;
  for (const int block : {16, 8}) {
    if (!fits_channels_last(graph, block)) continue;
    device.layout = Layout::channels_last;
    device.block = block;
    device.kernels = &kernels(device.isa, device.type, block);
    break;
  }
  return device;
}

Device make_device(spec::Precision precision) {
  Device device;
  device.isa = choose_isa();
  device.type = element_type(precision);
  device.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  device.stream = dnnl::stream(device.engine);
  device.block = device.isa == Isa::avx512 ? 16 : 8;
  device.kernels = &kernels(device.isa, device.type, device.block);
  return device;
}

std::string device_text(const Device& device) {
  const bool amx = device.layout == Layout::channels_last;
  const char* const vectors = device.isa == Isa::avx512 ? "AVX-512" : (device.isa == Isa::avx2 ? "AVX2" : "SSE4.2");
  const dnnl_version_t* const version = dnnl_version();
  return fmt::format("{}, {}{}, oneDNN {}.{}.{}, {} threads", cpu_features().model, vectors, amx ? " and AMX" : "",
                     version->major, version->minor, version->patch, parallel_threads());
}

void check_headroom() {
  // A generated kernel takes 256 KiB to 1 MiB, and the first product of matrices generates about twenty.
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  void* const block = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  ::munmap(block, kBytes);  // never touched, so it costs a microsecond and no page
}

void check_threads(int team) {
  std::latch all(1);
  std::vector<std::jthread> threads;
  try {
    for (int i = 1; i < team; ++i) threads.emplace_back([&all] { all.wait(); });
  } catch (...) {
    all.count_down();
    throw;
  }
  all.count_down();
}

const UpdateKernels& update_kernels(Isa isa) { return tables(isa).update; }

const Kernels& kernels(Isa isa, FloatType type, int block) {
  return tables(isa).table[type == FloatType::bf16 ? 1 : 0][block == kMaxBlock ? 1 : 0];
}

}  // namespace chexbench::engine::onednn
