// The elementwise half of training: batch norm fused with ReLU and residual add, pools. Everything between
// convolutions is bound by memory, so each kernel reads and writes a tensor once.
//
// Tensors are seen as [image][channel block][pixel][B channels], B = 8 or 16, with free strides: oneDNN's nChw8c and
// nChw16c, nhwc, and channel slices of a wider tensor are all the same to a kernel. A kernel call handles one block of
// B channels of a run of images on the calling thread; callers spread the calls over threads.
//
// Per-channel arrays hold at least blocks * B floats. The kernels are compiled once per instruction set; the baseline
// ones are the plain twin that the others are tested against.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench::engine {

inline constexpr int kMaxBlock = 16;

enum class ElementType { f32, bf16 };
enum class Isa { baseline, avx2, avx512 };

// Strides in elements. `data` null: absent. Memory is the arena's.
struct View {
  std::byte* data = nullptr;
  std::int64_t image_stride = 0;
  std::int64_t block_stride = 0;
  std::int64_t pixel_stride = 0;
};

// What one call covers: channels [block * B, block * B + B) of images [first_image, last_image).
struct Work {
  int block = 0;
  int first_image = 0;
  int last_image = 0;
};

// An activation: y = min(max(v, low), high). Its gradient passes where low < v < high, as PyTorch's ReLU and ReLU6. NaN
// stays NaN and its gradient passes: training that went wrong must show.
struct Clamp {
  float low = 0;
  float high = 0;
};

// y = clamp(scale[c] * x + shift[c] + residual)
struct NormForward {
  View x, residual, y;
  const float* scale = nullptr;
  const float* shift = nullptr;
  Clamp clamp;
  int pixels = 0;
};

// g = (gradient + gradient2) where the activation passes: where `output` lies within the clamp, or, without `output`,
// where scale * x + shift does. g is written to `masked` if that is given (it may be `gradient`).
struct NormBackward {
  View x, output, gradient, gradient2, masked;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* mean = nullptr;
  Clamp clamp;
  int pixels = 0;
};

// dx = a[c] * g + b[c] * x + c[c]; dx may be x.
struct NormInputGradient {
  const float* a = nullptr;
  const float* b = nullptr;
  const float* c = nullptr;
  View dx;
};

// A pool's geometry. Windows are square; positions outside the image don't count (max) or count as 0 (average).
struct PoolShape {
  int height = 0, width = 0;
  int out_height = 0, out_width = 0;
  int kernel = 0, stride = 0, padding = 0;
};

// Sums are added to what is there: B doubles each.
struct Kernels {
  int block = 0;  // B
  ElementType type = ElementType::f32;

  // sum of x and of x^2
  void (*statistics)(const View& x, int pixels, Work work, double* sum, double* sum_squares);
  // as statistics, and y = x
  void (*copy_statistics)(const View& x, const View& y, int pixels, Work work, double* sum, double* sum_squares);
  void (*normalize)(const NormForward& norm, Work work);
  // sum of g and of g * (x - mean)
  void (*gradient_sums)(const NormBackward& norm, Work work, double* sum, double* sum_product);
  // Reads `masked` instead of the gradients where that was written by gradient_sums.
  void (*gradient_apply)(const NormBackward& norm, const NormInputGradient& input, Work work);
  // gradient_sums, and in the same pass total (f32) += a * g, or = a * g where `first`.
  void (*gradient_accumulate)(const NormBackward& norm, const float* a, const View& total, bool first, Work work,
                              double* sum, double* sum_product);
  // dx = total (f32) + b[c] * x + c[c]
  void (*gradient_finish)(const View& total, const View& x, const NormInputGradient& input, int pixels, Work work);
  // y += x
  void (*add)(const View& x, const View& y, int pixels, Work work);

  // `winner` holds, for each output, the index of its maximum within the window: u8, packed, strides as given.
  void (*max_pool)(const View& x, const View& y, const View& winner, const PoolShape& shape, Work work);
  void (*max_pool_backward)(const View& dy, const View& winner, const View& dx, const PoolShape& shape, Work work);
  void (*average_pool)(const View& x, const View& y, const PoolShape& shape, Work work);
  void (*average_pool_backward)(const View& dy, const View& dx, const PoolShape& shape, Work work);
  // mean[image * channels + c] over the pixels; and its gradient, dx = dmean / pixels.
  void (*global_average)(const View& x, int pixels, Work work, float* mean, int channels);
  void (*global_average_backward)(const float* dmean, int channels, const View& dx, int pixels, Work work);
};

// first = beta1 first + (1 - beta1) g; second = beta2 second + (1 - beta2) g^2;
// weight -= rate * first / (sqrt(second) * root + epsilon)
struct AdamFactors {
  float beta1 = 0, beta2 = 0, rate = 0, root = 0, epsilon = 0;
};

// Updates of `count` weights. velocity = momentum * velocity + g; weight -= rate * velocity.
struct UpdateKernels {
  void (*adam)(const AdamFactors& factors, const float* gradient, float* first, float* second, float* weights,
               std::size_t count);
  void (*sgd)(float rate, float momentum, const float* gradient, float* velocity, float* weights, std::size_t count);
};

// The kernels for blocks of 8 or 16 channels. The CPU must have `isa`. Always the same object for the same arguments.
const Kernels& kernels(Isa isa, ElementType type, int block);
const UpdateKernels& update_kernels(Isa isa);

// What one compilation gives: index [type][block == 16].
struct KernelTables {
  Kernels table[2][2];
  UpdateKernels update;
};
extern const KernelTables kBaselineKernels;
extern const KernelTables kAvx2Kernels;
extern const KernelTables kAvx512Kernels;

}  // namespace chexbench::engine
