#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/random.hpp"
#include "dataset/make/synth.hpp"
#include "dataset/nih_labels.hpp"

namespace chexbench::dataset {
namespace {

// Counts over the 112,120 published rows, in the order of nih_labels.hpp.
constexpr double kRows = 112120;
constexpr std::array<double, kNihLabels> kRowsWithLabel = {11559, 2776, 13317, 19894, 5782, 6331, 1431,
                                                           5302,  4667, 2303,  2516,  1686, 3385, 227};
constexpr double kRowsWithAnyLabel = 112120 - 60361;
// The share of patients with at most 1, 2, ... 10 images. Those with more are spread evenly over 11..kMostImages.
constexpr std::array<double, 10> kPatientsUpTo = {0.568, 0.702, 0.770, 0.813, 0.843, 0.869, 0.889, 0.905, 0.917, 0.928};
constexpr int kMostImages = 34;
// The published test list has 25,596 rows, but only 2,797 of the 30,805 patients, because those have many images. Here
// patients are drawn for it independently of their images, so the share of rows is used.
constexpr double kTestShare = 25596.0 / kRows;
constexpr double kShareMale = 63340.0 / kRows;
constexpr double kSharePa = 67310.0 / kRows;

// Returns the chance q of each finding in a draw that is repeated until there is at least one finding, such that the
// published frequencies result: q = p (1 - prod(1 - q)), in which p is the finding's share of the rows with findings.
// The iteration contracts, so it converges.
std::array<double, kNihLabels> label_chances() {
  std::array<double, kNihLabels> chances;
  for (std::size_t f = 0; f < kNihLabels; ++f) chances[f] = kRowsWithLabel[f] / kRowsWithAnyLabel;
  for (int round = 0; round < 200; ++round) {
    double none = 1;
    for (const double chance : chances) none *= 1 - chance;
    for (std::size_t f = 0; f < kNihLabels; ++f) chances[f] = kRowsWithLabel[f] / kRowsWithAnyLabel * (1 - none);
  }
  return chances;
}

LabelBits draw_labels(const std::array<double, kNihLabels>& chances, RandomStream& random) {
  if (random.uniform() >= kRowsWithAnyLabel / kRows) return 0;
  unsigned labels = 0;
  while (labels == 0) {
    for (unsigned f = 0; f < kNihLabels; ++f) labels |= (random.uniform() < chances[f] ? 1u : 0u) << f;
  }
  return labels;
}

int draw_image_count(RandomStream& random) {
  const double u = random.uniform();
  for (std::size_t i = 0; i < kPatientsUpTo.size(); ++i) {
    if (u < kPatientsUpTo[i]) return static_cast<int>(i) + 1;
  }
  return 11 + static_cast<int>(random.below(kMostImages - 10));
}

}  // namespace

std::vector<SynthImage> plan_synthetic_set(int images, std::uint64_t seed) {
  static const std::array<double, kNihLabels> chances = label_chances();
  std::vector<SynthImage> plan;
  for (std::uint32_t patient = 1; static_cast<int>(plan.size()) < images; ++patient) {
    SynthImage row;
    row.patient = patient;
    row.patient_seed = derive_seed(seed, patient);
    RandomStream random(row.patient_seed);
    const int count = std::min(draw_image_count(random), images - static_cast<int>(plan.size()));
    row.age_years = 20 + static_cast<int>(random.below(30) + random.below(30));
    row.sex = random.uniform() < kShareMale ? 'M' : 'F';
    // The first patient trains and the second tests, so that small sets have both lists, too.
    row.test = patient == 2 || (patient > 2 && random.uniform() < kTestShare);
    for (row.follow_up = 0; row.follow_up < count; ++row.follow_up) {
      row.name = fmt::format("{:08}_{:03}.png", patient, row.follow_up);
      row.image_seed = derive_seed(row.patient_seed, static_cast<std::uint64_t>(row.follow_up) + 1);
      row.labels = draw_labels(chances, random);
      row.frontal_pa = random.uniform() < kSharePa;
      plan.push_back(row);
    }
  }
  return plan;
}

}  // namespace chexbench::dataset
