// The kernels that do not use oneDNN: batch norm fused with activation and residual add, pools, and the optimizer's
// update. Everything between convolutions is bound by memory bandwidth, so each kernel reads and writes a tensor once.
//
// A kernel sees a tensor as [image][channel block][pixel][B channels], with B = 8 or 16 and any strides, so it works on
// oneDNN's nChw8c and nChw16c, on NHWC, and on channel slices of a wider tensor. A call handles one block of B channels
// of a run of images on the calling thread, or a tile: several neighbouring blocks, pixel by pixel, which reads NHWC in
// the order of memory. Callers spread the calls over threads.
//
// The B channels of a pixel are aligned to their size. Arrays with one value per channel hold at least blocks * B
// floats and need no alignment. The kernels are compiled once per instruction set; the others are tested against the
// baseline ones. They are thread-safe as long as calls write different memory, and they never throw or allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/cpu_features.hpp"
#include "core/half.hpp"

namespace chexbench::engine::onednn {

// The instruction set that the engine trains with. This header is free of oneDNN, because onednn_kind.cpp, which is not
// in the module, asks for it, too.
enum class Isa { baseline, avx2, avx512 };

// Returns the best one for a CPU with these features; oneDNN may still lower it. Its kernels for AVX-512 use AVX2 and
// FMA as well.
constexpr Isa best_isa(const CpuFeatures& cpu) {
  if (!cpu.avx2 || !cpu.fma) return Isa::baseline;
  return cpu.avx512 ? Isa::avx512 : Isa::avx2;
}

// Returns "baseline", "avx2", "avx512", or "avx512, avx512_bf16, amx_bf16": the instruction set for f32, followed by
// those for bf16.
inline std::string instruction_sets(const CpuFeatures& cpu) {
  const Isa isa = best_isa(cpu);
  if (isa != Isa::avx512) return isa == Isa::avx2 ? "avx2" : "baseline";
  return std::string("avx512") + (cpu.avx512_bf16 ? ", avx512_bf16" : "") + (cpu.amx_bf16 ? ", amx_bf16" : "");
}

inline constexpr int kMaxBlock = 16;
// The most blocks that one call works on.
inline constexpr int kMaxTile = 16;
// The distance, in doubles, from the sums of one block of a call to those of the next.
inline constexpr int kSumStride = 2 * kMaxBlock;

enum class Layout {
  blocked,        // nChw8c or nChw16c, the layouts in which oneDNN's convolutions are fastest without AMX
  channels_last,  // NHWC, the only layout that oneDNN's convolutions for AMX take
  nchw,           // the network's input, if activations are blocked
  flat,           // [images, channels]
};

// A tensor as kernels see it. Strides are in elements; the channels of a block are contiguous. If `data` is null, the
// tensor is absent. A view does not own its memory.
struct View {
  std::byte* data = nullptr;
  std::int64_t image_stride = 0;
  std::int64_t block_stride = 0;
  std::int64_t pixel_stride = 0;
};

// The work of one call: channels [block * B, (block + blocks) * B) of images [first_image, last_image). Pools take one
// block only, the other kernels up to kMaxTile.
struct Work {
  int block = 0;
  int first_image = 0;
  int last_image = 0;
  int blocks = 1;
};

// An activation: y = min(max(v, low), high). The gradient passes where low < v < high, as in PyTorch's ReLU and ReLU6.
// NaN stays NaN and lets the gradient pass, so that a failed training shows in the loss.
struct Clamp {
  float low = 0;
  float high = 0;
};

// y = clamp(scale[c] * x + shift[c] + residual). `residual` may be absent, and y may be x.
struct NormForward {
  View x, residual, y;
  const float* scale = nullptr;
  const float* shift = nullptr;
  Clamp clamp;
  int pixels = 0;
};

// Defines g, the gradient of the norm's output: gradient + gradient2 where the activation passes it, else 0. The
// activation passes it where `output` is strictly within the clamp or, if `output` is absent, where
// scale[c] * x + shift[c] is. gradient2 may be absent. If `masked` is given, gradient_sums() writes g to it; it may be
// the same memory as `gradient`.
struct NormBackward {
  View x, output, gradient, gradient2, masked;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* mean = nullptr;
  Clamp clamp;
  int pixels = 0;
};

// The gradient of a norm's input: dx = a[c] * g + b[c] * x + c[c]. dx may be the same memory as x.
struct NormInputGradient {
  const float* a = nullptr;
  const float* b = nullptr;
  const float* c = nullptr;
  View dx;
};

// A pool's geometry in pixels. Windows are square. A max pool ignores positions outside the image; an average pool
// counts them as 0.
struct PoolShape {
  int height = 0, width = 0;
  int out_height = 0, out_width = 0;
  int kernel = 0, stride = 0, padding = 0;
};

// The kernels for one element type and block size. Arguments `sum`, `sum_squares` and `sum_product` point to B doubles
// for each block, kSumStride apart, to which a kernel adds its sums. Views have elements of `type` unless a comment
// says otherwise.
struct Kernels {
  int block = 0;  // B
  FloatType type = FloatType::f32;

  // Adds up x and x^2.
  void (*statistics)(const View& x, int pixels, Work work, double* sum, double* sum_squares);
  // Does the same, and copies x to y in the same pass.
  void (*copy_statistics)(const View& x, const View& y, int pixels, Work work, double* sum, double* sum_squares);
  // Computes y of NormForward.
  void (*normalize)(const NormForward& norm, Work work);
  // Adds up g and g * (x - mean[c]), and writes g to `masked` if it is given.
  void (*gradient_sums)(const NormBackward& norm, Work work, double* sum, double* sum_product);
  // Computes dx of NormInputGradient. If `masked` is given, it must hold g already, and is read instead of the
  // gradients. `output` is not read: without `masked`, the activation is decided by scale[c] * x + shift[c].
  void (*gradient_apply)(const NormBackward& norm, const NormInputGradient& input, Work work);
  // Does the same as gradient_sums() without gradient2, output and masked, and in the same pass adds a[c] * g to
  // `total` (f32), or overwrites it with a[c] * g if `first` is true.
  void (*gradient_accumulate)(const NormBackward& norm, const float* a, const View& total, bool first, Work work,
                              double* sum, double* sum_product);
  // dx = total + b[c] * x + c[c], where `total` is f32; input.a is not read.
  void (*gradient_finish)(const View& total, const View& x, const NormInputGradient& input, int pixels, Work work);
  // y += x
  void (*add)(const View& x, const View& y, int pixels, Work work);

  // For each output, `winner` (u8) is the row-major index of its maximum within the window, so kernel^2 <= 256.
  // The first of equal values wins; NaN wins over numbers.
  void (*max_pool)(const View& x, const View& y, const View& winner, const PoolShape& shape, Work work);
  void (*max_pool_backward)(const View& dy, const View& winner, const View& dx, const PoolShape& shape, Work work);
  void (*average_pool)(const View& x, const View& y, const PoolShape& shape, Work work);
  void (*average_pool_backward)(const View& dy, const View& dx, const PoolShape& shape, Work work);
  // Writes the mean over the pixels to mean[image * channels + c]. Its backward computes dx = dmean / pixels.
  // `mean` and `dmean` are aligned to B floats, and `channels` is a multiple of B.
  void (*global_average)(const View& x, int pixels, Work work, float* mean, int channels);
  void (*global_average_backward)(const float* dmean, int channels, const View& dx, int pixels, Work work);
};

// The first part of every update: g = scale * gradient + l2 * weight; weight *= keep. These defaults change neither.
struct Regularization {
  float scale = 1;  // of clipped gradients
  float l2 = 0;     // weight decay as a part of the gradient
  float keep = 1;   // decoupled weight decay: 1 - learning rate * decay
};

// The factors of one Adam step, with the bias corrections folded in: rate = learning rate / (1 - beta1^t) and
// root = 1 / sqrt(1 - beta2^t). The update is
//   first = beta1 first + (1 - beta1) g;  second = beta2 second + (1 - beta2) g^2;
//   weight -= rate * first / (sqrt(second) * root + epsilon)
struct AdamFactors {
  float beta1 = 0, beta2 = 0, rate = 0, root = 0, epsilon = 0;
};

struct SgdFactors {
  float rate = 0, momentum = 0;
};

// Updates `count` weights, and their moments, in place. All arrays are f32 and must not overlap.
struct UpdateKernels {
  void (*adam)(const Regularization& regularization, const AdamFactors& factors, const float* gradient, float* first,
               float* second, float* weights, std::size_t count);
  // velocity = momentum * velocity + g; weight -= rate * velocity.
  void (*sgd)(const Regularization& regularization, const SgdFactors& factors, const float* gradient, float* velocity,
              float* weights, std::size_t count);
  // average += share * (weight - average).
  void (*average)(float share, const float* weights, float* average, std::size_t count);
};

// Returns the kernels for blocks of 8 or 16 channels. The CPU must have `isa`. The result is in static storage: the
// same arguments always return the same object.
const Kernels& kernels(Isa isa, FloatType type, int block);
const UpdateKernels& update_kernels(Isa isa);

// The kernels of one instruction set. The indices are [type == bf16][block == 16].
struct KernelTables {
  Kernels table[2][2];
  UpdateKernels update;
};
extern const KernelTables kBaselineKernels;
extern const KernelTables kAvx2Kernels;
extern const KernelTables kAvx512Kernels;

}  // namespace chexbench::engine::onednn
