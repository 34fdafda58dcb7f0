#include "dataset/make/synth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/random.hpp"
#include "dataset/dataset.hpp"

namespace chexbench::dataset {
namespace {

// The anatomy is drawn on a grid this much coarser than the image and then enlarged, because it is smooth and drawing
// it takes most of the time.
constexpr int kCoarse = 4;

// A detector's noise. Each draw leaves a trace to its right and below, which fades by a factor per pixel, so that the
// noise is correlated as in a real image. PNG's filter Average predicts weak correlation best, Paeth strong.
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

namespace {

// Coordinates are u to the right and v down, both 0..1. The patient's right lung is on the left, as in any X-ray.

// Returns 1 below `from`, 0 above `to`, and a smooth step between them. If `from` is above `to`, the step goes up: it
// is 0 below `to` and 1 above `from`.
float fade(float value, float from, float to) {
  const float t = std::clamp((to - value) / (to - from), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

struct Ellipse {
  float u, v, radius_u, radius_v;
  // Returns the squared distance from the centre in units of the radii, which is 1 on the edge.
  float distance2(float at_u, float at_v) const {
    const float x = (at_u - u) / radius_u;
    const float y = (at_v - v) / radius_v;
    return x * x + y * y;
  }
  // Returns 1 inside and 0 outside, with a smooth edge where distance2() is between 1 - softness and 1 + softness.
  float inside(float at_u, float at_v, float softness) const {
    return fade(distance2(at_u, at_v), 1.0f - softness, 1.0f + softness);
  }
};

// A wave of parabolas with period 1: 0 at whole numbers, 1 halfway between them.
float wave(float t) {
  const float phase = t - std::floor(t);
  return 4.0f * phase * (1.0f - phase);
}

// Interpolates smoothly between the random numbers of a lattice with `cells` cells per side. The values are 0..1.
float mottle(float u, float v, float cells, std::uint64_t seed) {
  const float x = u * cells, y = v * cells;
  const float x0 = std::floor(x), y0 = std::floor(y);
  const auto corner = [&](float cx, float cy) {
    const auto key = static_cast<std::uint64_t>(static_cast<std::int64_t>(cx) * 4096 + static_cast<std::int64_t>(cy));
    return static_cast<float>(derive_seed(seed, key) >> 40) * 0x1p-24f;
  };
  const float right = fade(x - x0, 1.0f, 0.0f), down = fade(y - y0, 1.0f, 0.0f);
  const float top = corner(x0, y0) * (1 - right) + corner(x0 + 1, y0) * right;
  const float bottom = corner(x0, y0 + 1) * (1 - right) + corner(x0 + 1, y0 + 1) * right;
  return top * (1 - down) + bottom * down;
}

float between(RandomStream& random, double low, double high) {
  return static_cast<float>(low + (high - low) * random.uniform());
}

// The anatomy of one image: the patient's organs, at their place in this exposure.
class Chest {
 public:
  explicit Chest(const ChestScene& scene) : labels_(scene.labels), texture_seed_(derive_seed(scene.image_seed, 3)) {
    RandomStream patient(derive_seed(scene.patient_seed, 0));
    RandomStream image(derive_seed(scene.image_seed, 1));
    place_organs(patient, image);
    place_findings(image);
  }

  float brightness(float u, float v) const {
    const float body = body_.inside(u, v, 0.2f);
    const float lungs = std::max(lungs_[0].inside(u, v, 0.15f), lungs_[1].inside(u, v, 0.15f));
    const float abdomen = fade(dome(u) - v, -0.02f, 0.02f);
    const float air = lungs * (1.0f - abdomen);
    const float spine = fade(std::abs(u - centre_), 0.025f, 0.075f);
    const float heart = heart_.inside(u, v, 0.2f);
    float value = 18.0f + 130.0f * body - air * (has(Finding::emphysema) ? 103.0f : 78.0f);
    value += body * (34.0f * spine + 20.0f * abdomen);
    value += 66.0f * heart * (1.0f - 0.5f * spine);
    value += 13.0f * body * (1.0f - heart) * rib(u, v);
    value += air * lung_findings(u, v) + pleura_findings(u, v, lungs, abdomen) + hernia(u, v);
    return exposure_ * value;
  }

 private:
  // In the order of kNihLabelNames.
  enum class Finding : unsigned {
    atelectasis,
    cardiomegaly,
    effusion,
    infiltration,
    mass,
    nodule,
    pneumonia,
    pneumothorax,
    consolidation,
    edema,
    emphysema,
    fibrosis,
    pleural_thickening,
    hernia
  };
  bool has(Finding finding) const { return labels_.has(static_cast<std::size_t>(finding)); }

  void place_organs(RandomStream& patient, RandomStream& image) {
    const float breadth = between(patient, 0.93, 1.07);
    const float height = between(patient, 0.95, 1.05) * (has(Finding::emphysema) ? 1.08f : 1.0f);
    const float shift_u = between(image, -0.015, 0.015), shift_v = between(image, -0.015, 0.015);
    centre_ = 0.5f + shift_u;
    body_ = {centre_, 0.58f + shift_v, 0.47f * breadth, 0.62f};
    lungs_[0] = {centre_ - 0.21f * breadth, 0.46f + shift_v, 0.155f * breadth, 0.335f * height};
    lungs_[1] = {centre_ + 0.21f * breadth, 0.46f + shift_v, 0.15f * breadth, 0.335f * height};
    const float heart = between(patient, 0.92, 1.05) * (has(Finding::cardiomegaly) ? 1.55f : 1.0f);
    heart_ = {centre_ + 0.05f, 0.62f + shift_v, 0.12f * heart, 0.145f * between(image, 0.97, 1.03)};
    dome_v_ = 0.76f + shift_v + (has(Finding::emphysema) ? 0.04f : 0.0f);
    dome_height_ = has(Finding::emphysema) ? 0.01f : 0.06f;
    ribs_ = between(patient, 9.0, 11.0);
    rib_phase_ = between(image, 0.0, 1.0);
    exposure_ = between(image, 0.88, 1.12);
  }

  void place_findings(RandomStream& image) {
    const auto lung = [&] { return lungs_[image.below(2)]; };
    const auto in_lung = [&](double spread) {
      const Ellipse where = lung();
      return Ellipse{where.u + where.radius_u * between(image, -spread, spread),
                     where.v + where.radius_v * between(image, -spread, 0.5 * spread), 1.0f, 1.0f};
    };
    strength_ = between(image, 0.85, 1.15);
    mass_ = in_lung(0.4);
    mass_.radius_u = mass_.radius_v = between(image, 0.06, 0.075);
    nodule_ = in_lung(0.55);
    nodule_.radius_u = nodule_.radius_v = between(image, 0.02, 0.026);
    const Ellipse plate = lung();
    plate_ = {plate.u, plate.v + 0.14f + between(image, -0.03, 0.03), 0.12f, 0.014f};
    block_ = {lungs_[0].u, lungs_[0].v + 0.16f, 0.10f, 0.085f};
    wedge_ = {lungs_[1].u + 0.01f, lungs_[1].v - 0.20f, 0.13f, 0.10f};
    collapsed_ = static_cast<unsigned>(image.below(2));
    wet_ = static_cast<unsigned>(image.below(2));
  }

  // Returns v of the abdomen's upper edge, a dome under each lung.
  float dome(float u) const {
    const Ellipse& lung = u < centre_ ? lungs_[0] : lungs_[1];
    const float x = (u - lung.u) / 0.2f;
    return dome_v_ - dome_height_ * std::max(0.0f, 1.0f - x * x);
  }

  // The ribs rise from the spine outwards.
  float rib(float u, float v) const {
    const float x = (u - centre_) / 0.4f;
    const float w = wave(v * ribs_ + 1.6f * x * x + rib_phase_);
    return w * w * w * fade(v, 0.78f, 0.88f);
  }

  // Returns the brightness added by the findings within the lungs.
  float lung_findings(float u, float v) const {
    float value = 0;
    if (has(Finding::atelectasis)) value += 75.0f * plate_.inside(u, v, 0.6f);
    if (has(Finding::infiltration)) {
      const float patches = fade(mottle(u, v, 14.0f, texture_seed_), 0.6f, 0.4f);
      value += 46.0f * patches * fade(std::abs(v - lungs_[0].v), 0.12f, 0.2f);
    }
    if (has(Finding::mass)) value += 80.0f * mass_.inside(u, v, 0.25f);
    if (has(Finding::nodule)) value += 85.0f * nodule_.inside(u, v, 0.35f);
    if (has(Finding::pneumonia)) value += 62.0f * wedge_.inside(u, v, 0.7f);
    if (has(Finding::consolidation)) {
      const float box = std::max(std::abs(u - block_.u) / block_.radius_u, std::abs(v - block_.v) / block_.radius_v);
      value += 72.0f * fade(box, 0.92f, 1.08f);
    }
    if (has(Finding::edema)) {
      for (const Ellipse& lung : lungs_) {
        const float inward = lung.u < centre_ ? 0.09f : -0.09f;
        value += 58.0f * Ellipse{lung.u + inward, lung.v + 0.02f, 0.11f, 0.17f}.inside(u, v, 0.8f);
      }
    }
    if (has(Finding::fibrosis)) {
      const float mesh = std::max(wave((u + v) * 30.0f), wave((u - v) * 30.0f));
      value += 60.0f * fade(mesh, 1.0f, 0.75f) * fade(v, lungs_[0].v + 0.02f, lungs_[0].v - 0.06f);
    }
    return strength_ * value;
  }

  // Returns the brightness added by the findings at the lungs' edges.
  float pleura_findings(float u, float v, float lungs, float abdomen) const {
    float value = 0;
    if (has(Finding::effusion)) {
      const Ellipse& lung = lungs_[wet_];
      const float x = (u - lung.u) / lung.radius_u;
      const float surface = dome_v_ - 0.11f - 0.05f * x * x;  // a meniscus: higher at the walls
      value += 80.0f * lung.inside(u, v, 0.15f) * (1.0f - abdomen) * fade(surface - v, -0.015f, 0.015f);
    }
    if (has(Finding::pneumothorax)) {
      const Ellipse& lung = lungs_[collapsed_];
      const float outward = collapsed_ == 0 ? 0.035f : -0.035f;
      const Ellipse rest{lung.u + outward, lung.v + 0.07f, lung.radius_u * 0.82f, lung.radius_v * 0.86f};
      const float edge = rest.distance2(u, v);
      value -= 42.0f * lungs * lung.inside(u, v, 0.15f) * (1.0f - fade(edge, 0.9f, 1.1f));
      value += 45.0f * lung.inside(u, v, 0.15f) * fade(std::abs(edge - 1.0f), 0.02f, 0.09f);
    }
    if (has(Finding::pleural_thickening)) {
      for (const Ellipse& lung : lungs_) {
        const bool outer = lung.u < centre_ ? u < lung.u : u > lung.u;
        const float rim = fade(std::abs(lung.distance2(u, v) - 0.92f), 0.08f, 0.22f);
        if (outer) value += 62.0f * rim * fade(std::abs(v - lung.v), 0.2f, 0.28f);
      }
    }
    return strength_ * value;
  }

  // Returns the brightness added by a hernia: a bubble of gas with a bright wall, behind the heart.
  float hernia(float u, float v) const {
    if (!has(Finding::hernia)) return 0;
    const float distance = Ellipse{centre_, dome_v_ - 0.03f, 0.075f, 0.06f}.distance2(u, v);
    return strength_ * (40.0f * fade(std::abs(distance - 1.0f), 0.1f, 0.3f) - 75.0f * fade(distance, 0.7f, 0.9f));
  }

  LabelBits labels_;
  std::uint64_t texture_seed_;
  float centre_ = 0.5f;
  Ellipse body_{}, heart_{};
  std::array<Ellipse, 2> lungs_{};
  float dome_v_ = 0, dome_height_ = 0, ribs_ = 0, rib_phase_ = 0, exposure_ = 1, strength_ = 1;
  Ellipse mass_{}, nodule_{}, plate_{}, block_{}, wedge_{};
  unsigned collapsed_ = 0, wet_ = 0;  // which lung
};

}  // namespace

std::vector<float> draw_anatomy(const ChestScene& scene, int side) {
  const Chest chest(scene);
  std::vector<float> grid(static_cast<std::size_t>(side) * side);
  const float step = 1.0f / static_cast<float>(side - 1);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      grid[static_cast<std::size_t>(y) * side + x] =
          chest.brightness(static_cast<float>(x) * step, static_cast<float>(y) * step);
    }
  }
  return grid;
}

}  // namespace chexbench::dataset
