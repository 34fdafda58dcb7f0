#include "dataset/make/synth_pixels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/random.hpp"
#include "dataset/make/synth_anatomy.hpp"

namespace chexbench::dataset {
namespace {

// The anatomy is drawn on a grid this much coarser than the image and then enlarged, because it is smooth and drawing
// it takes most of the time.
constexpr int kCoarse = 4;

// The noise of a detector. Each draw leaves a trace to its right and below, which fades by a factor per pixel, so that
// the noise is correlated as in a real image. PNG's filter Average predicts weak correlation best, Paeth strong.
struct Grain {
  float amplitude = 0;  // standard deviation of one draw, in gray levels
  float across = 0;     // factor from a pixel to the one at its right
  float down = 0;       // factor from a pixel to the one below
};

// NIH's files have 205..602 KB with a median of about 420 KB, although their anatomy is nearly the same. Their noise
// differs, so it is drawn for each image.
Grain draw_grain(RandomStream& random) {
  const double spread = (random.uniform() + random.uniform() + random.uniform()) / 3;
  return {.amplitude = static_cast<float>(0.5 + 2.25 * spread),
          .across = static_cast<float>(0.3 + 0.55 * random.uniform()),
          .down = static_cast<float>(0.3 + 0.55 * random.uniform())};
}

// Fills the row with draws from a binomial distribution with mean 0 and standard deviation 1. Each random number gives
// four draws.
void draw_row(RandomStream& random, std::vector<float>& row) {
  constexpr float kScale = 0.5f;  // 16 bits: mean 8, standard deviation 2
  for (std::size_t x = 0; x + 4 <= row.size(); x += 4) {
    const std::uint64_t bits = random.next();
    for (unsigned k = 0; k < 4; ++k) {
      row[x + k] = static_cast<float>(std::popcount((bits >> (16 * k)) & 0xffffu) - 8) * kScale;
    }
  }
}

// Writes the anatomy at every pixel of row `y`, interpolated between the two coarse rows around it.
void enlarge_row(const std::vector<float>& grid, int side, int y, std::vector<float>& row) {
  const int coarse_y = y / kCoarse;
  const float fraction_y = static_cast<float>(y % kCoarse) / kCoarse;
  const float* const upper = grid.data() + static_cast<std::size_t>(coarse_y) * side;
  const float* const lower = upper + side;
  for (int cell = 0; cell + 1 < side; ++cell) {
    const float left = upper[cell] + (lower[cell] - upper[cell]) * fraction_y;
    const float right = upper[cell + 1] + (lower[cell + 1] - upper[cell + 1]) * fraction_y;
    for (int k = 0; k < kCoarse; ++k) {
      row[static_cast<std::size_t>(cell) * kCoarse + k] = left + (right - left) * (static_cast<float>(k) / kCoarse);
    }
  }
}

}  // namespace

void render_chest(const ChestScene& scene, int size, std::vector<std::uint8_t>& pixels) {
  const int side = (size + kCoarse - 1) / kCoarse + 1;
  const std::vector<float> anatomy = draw_anatomy(scene, side);
  RandomStream random(derive_seed(scene.image_seed, 2));
  const Grain grain = draw_grain(random);
  const auto width = static_cast<std::size_t>(side - 1) * kCoarse;
  std::vector<float> smooth(width), draws(width), noise(width);
  pixels.resize(static_cast<std::size_t>(size) * size);
  for (int y = 0; y < size; ++y) {
    enlarge_row(anatomy, side, y, smooth);
    draw_row(random, draws);
    std::uint8_t* const out = pixels.data() + static_cast<std::size_t>(y) * size;
    float trace = 0;
    for (int x = 0; x < size; ++x) {
      trace = draws[x] + grain.across * trace;
      noise[x] = trace + grain.down * noise[x];
      const float value = smooth[x] + grain.amplitude * noise[x] + 0.5f;
      out[x] = static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
    }
  }
}

}  // namespace chexbench::dataset
