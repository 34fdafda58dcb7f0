// A norm with its activation and a pool in one pass: the activated map and its gradient, the largest of all, are never
// written. Forward is MaxPool or AveragePool over NormedValues. Backward runs the passes of norm_backward.hpp,
// for which it gathers each pixel's gradient from the pool's windows.
#pragma once

#include "engine/cuda/kernels/average_pool.hpp"
#include "engine/cuda/kernels/max_pool.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"

namespace chexbench::engine::cuda::kernels {

// The result of Normalize, also rounded to T: values that are equal for the pool after Normalize are equal here, so the
// same places win, and pooled maps equal those of separate passes bit for bit.
template <typename T, int V>
struct NormedValues {
  NormParameters norm;
  Clamp clamp;

  struct OfChannels {
    const Affine<V> affine;
    const Clamp clamp;

    CHEXBENCH_HOST_DEVICE OfChannels(const NormedValues& values, int channel)
        : affine(values.norm, channel), clamp(values.clamp) {}
    CHEXBENCH_HOST_DEVICE float operator()(const Pack<T, V>& pack, int i) const {
      return Element<T>::widen(Element<T>::narrow(clamped(affine(i, widened(pack, i)), clamp)));
    }
  };
};

// The gradient of one output of a pool, and which place of its window gets it: the winner, or each.
template <typename T, int V, bool kMax>
struct WindowGradient {
  Pack<T, V> gradient;
  Pack<std::uint8_t, V> winner;
  bool exists;

  CHEXBENCH_HOST_DEVICE float at(int i, int place) const {
    const bool gets = exists & (!kMax || winner.at[i] == place);
    return gets ? widened(gradient, i) : 0.0f;
  }
};

// Windows of a max pool (3x3, stride 2, padding 0 or 1) or an average pool (2x2, stride 2), as seen from patches of 2x2
// pixels. Along each axis, pixel p (0 or 1) of any patch is at place p + kSide - 2 - 2w of the patch's window w. All of
// this is known at compile time, so that only rows are divided; for_windows_around() also divides by the stride, for
// each pixel.
template <bool kMax>
struct PatchGrid {
  static constexpr int kSide = kMax ? 3 : 2;
  static constexpr int kWindows = kSide - 1;  // Of a patch, along each axis.
  PoolShape shape;

  // Patch i begins with pixel 2i - shift() and with window i - shift().
  CHEXBENCH_HOST_DEVICE int shift() const { return kSide - 2 - shape.padding; }
  CHEXBENCH_HOST_DEVICE int height() const { return (shape.height + shift() + 1) / 2; }
  CHEXBENCH_HOST_DEVICE int width() const { return (shape.width + shift() + 1) / 2; }
  CHEXBENCH_HOST_DEVICE static constexpr int place(int pixel, int window) { return pixel + kSide - 2 - 2 * window; }
};

// A position that may lie outside the image; `row` is then that of the nearest one inside.
struct Nearest {
  int row;
  bool exists;

  CHEXBENCH_HOST_DEVICE Nearest(int image, int y, int x, int height, int width)
      : row((image * height + nearest_inside(y, height)) * width + nearest_inside(x, width)),
        exists(inside(y, height) && inside(x, width)) {}
};

// Runs Pass (GradientSums, GradientApply or LazyAccumulate) over the pixels of a norm's input, whose output's gradient
// is that of a pool's input. Rows are patches: a thread loads a window once for all pixels of a patch.
template <typename Pass, typename T, int V, bool kMax>
struct OverPatches {
  static constexpr int kWidth = V;
  typedef PatchGrid<kMax> Grid;
  Pass pass;  // Without a gradient.
  Rows<const T> gradient;
  Rows<const std::uint8_t> winner;
  Grid grid;

  struct Worker {
    static constexpr int kUnroll = 1;
    static constexpr int kWindows = Grid::kWindows;
    struct Loaded {};
    typedef WindowGradient<T, V, kMax> Window;
    const OverPatches& op;
    typename Pass::Worker norm;

    template <typename Place>
    CHEXBENCH_HOST_DEVICE Worker(const OverPatches& of, const Place& place) : op(of), norm(of.pass, place) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int) const { return {}; }
    CHEXBENCH_HOST_DEVICE void use(int row, Loaded) {
      const Pixel patch(row, op.grid.height(), op.grid.width());
      Pack<T, V> x[4];
      Window windows[kWindows * kWindows];
      for (int i = 0; i < 4; ++i) x[i] = kernels::load<V>(op.pass.from.x.at(pixel(patch, i).row, norm.channel));
      for (int i = 0; i < kWindows * kWindows; ++i) windows[i] = window(patch, i / kWindows, i % kWindows);
      for (int i = 0; i < 4; ++i) {
        const Nearest here = pixel(patch, i);
        if (!here.exists) continue;
        typename Pass::Worker::Loaded loaded;
        auto& from = gradient_of(loaded);
        from.x = x[i];
        from.gradient = gathered(windows, i / 2, i % 2);
        norm.use(here.row, loaded);
      }
    }
    CHEXBENCH_HOST_DEVICE Totals<V> result(int rows) const { return norm.result(rows); }

   private:
    CHEXBENCH_HOST_DEVICE Nearest pixel(const Pixel& patch, int i) const {
      const PoolShape& shape = op.grid.shape;
      return {patch.image, 2 * patch.y - op.grid.shift() + i / 2, 2 * patch.x - op.grid.shift() + i % 2, shape.height,
              shape.width};
    }
    CHEXBENCH_HOST_DEVICE Window window(const Pixel& patch, int h, int w) const {
      const PoolShape& shape = op.grid.shape;
      const Nearest out(patch.image, patch.y - op.grid.shift() + h, patch.x - op.grid.shift() + w, shape.out_height,
                        shape.out_width);
      Window window;
      window.gradient = kernels::load<V>(op.gradient.at(out.row, norm.channel));
      if constexpr (kMax) window.winner = kernels::load<V>(op.winner.at(out.row, norm.channel));
      window.exists = out.exists;
      return window;
    }
    // Returns the gradient of pixel (y, x) of a patch, rounded as by the backward of a separate pool.
    CHEXBENCH_HOST_DEVICE static Pack<T, V> gathered(const Window* windows, int y, int x) {
      float sum[V] = {};
      for (int h = 0; h < kWindows; ++h) {
        for (int w = 0; w < kWindows; ++w) {
          const int from_top = Grid::place(y, h), from_left = Grid::place(x, w);
          if (from_top < 0 || from_left < 0) continue;
          for (int i = 0; i < V; ++i) sum[i] += windows[h * kWindows + w].at(i, from_top * Grid::kSide + from_left);
        }
      }
      return scaled<T>(sum, kMax ? 1.0f : 1.0f / static_cast<float>(Grid::kSide * Grid::kSide));
    }
    template <typename OfPass>
    CHEXBENCH_HOST_DEVICE static auto& gradient_of(OfPass& loaded) {
      if constexpr (requires { loaded.from; }) {
        return loaded.from;  // LazyAccumulate's.
      } else {
        return loaded;
      }
    }
  };

  int rows(int images) const { return images * grid.height() * grid.width(); }
  CHEXBENCH_HOST_DEVICE static Pair merge(Pair a, float count, Pair b, float share) {
    return Pass::merge(a, count, b, share);
  }
};

// The launchers throw DeviceError if check_norm_pool() rejects the pool.

// Forward: pool.x is the norm's input and pool.y the pool's output, which may not overlap.
struct NormPoolCall {
  PoolCall pool;
  NormParameters norm;
  Clamp clamp;
};
// `winner` is as in launch_max_pool().
void launch_norm_max_pool(const NormPoolCall& call, std::uint8_t* winner, Stream stream);
void launch_norm_average_pool(const NormPoolCall& call, Stream stream);

// Backward of both, with the passes of norm_backward.hpp for a norm without a residual: `call.gradient` is the gradient
// of the pool's output, one row for each output. There is no gradient2.
struct PoolBetween {
  int images = 0;
  PoolShape shape;
  const std::uint8_t* winner = nullptr;  // Written by forward of a max pool; null for an average pool.
};
void launch_pooled_gradient_sums(const NormGradientCall& call, const PoolBetween& pool, const NormSums& sums,
                                 Stream stream);
// dx may be x.
void launch_pooled_gradient_apply(const NormGradientCall& call, const PoolBetween& pool, const float* b, const float* c,
                                  Matrix dx, Stream stream);
// For the norm that backward reaches first in a dense block: total, of the call's type, and b and c are overwritten.
void launch_pooled_lazy_accumulate(const NormGradientCall& call, const PoolBetween& pool, Matrix total,
                                   const NormSums& sums, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
