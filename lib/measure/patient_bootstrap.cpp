#include "measure/patient_bootstrap.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/interrupt.hpp"
#include "core/random.hpp"

namespace chexbench::measure {
namespace {

// Draws as many patients as there are, with replacement, and returns how often each image was drawn.
class PatientDraws {
 public:
  explicit PatientDraws(const std::vector<std::uint32_t>& patients) : weights_(patients.size()) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> images;
    for (std::uint32_t image = 0; image < patients.size(); ++image) images[patients[image]].push_back(image);
    for (auto& [patient, of_patient] : images) images_.push_back(std::move(of_patient));
  }

  const std::vector<std::uint32_t>& draw() {
    std::fill(weights_.begin(), weights_.end(), 0u);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      for (const std::uint32_t image : images_[random_.below(images_.size())]) ++weights_[image];
    }
    return weights_;
  }

 private:
  RandomStream random_{kBootstrapSeed};
  std::vector<std::vector<std::uint32_t>> images_;
  std::vector<std::uint32_t> weights_;
};

std::optional<Interval> middle_95(std::vector<double> values) {
  if (values.size() < kBootstrapResamples / 2) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return Interval{at(0.025), at(0.975)};
}

}  // namespace

std::vector<Estimate> bootstrap_over_patients(const std::vector<std::uint32_t>& patients, std::size_t count,
                                              const WeightedFigures& figures) {
  std::vector<std::optional<double>> values(count);
  figures(std::vector<std::uint32_t>(patients.size(), 1), values);
  std::vector<Estimate> estimates;
  for (const std::optional<double>& value : values) estimates.push_back({.value = value, .ci95 = {}});

  PatientDraws draws(patients);
  std::vector<std::vector<double>> drawn(count);
  for (int resample = 0; resample < kBootstrapResamples && !patients.empty(); ++resample) {
    throw_if_interrupted();
    figures(draws.draw(), values);
    for (std::size_t i = 0; i < count; ++i)
      if (values[i]) drawn[i].push_back(*values[i]);
  }
  for (std::size_t i = 0; i < count; ++i) estimates[i].ci95 = middle_95(std::move(drawn[i]));
  return estimates;
}

std::optional<double> MeanOfDefined::operator()(std::span<const std::optional<double>> values) {
  std::vector<bool> defined;
  double sum = 0;
  for (const std::optional<double>& value : values) {
    defined.push_back(value.has_value());
    sum += value.value_or(0);
  }
  if (!defined_) defined_ = defined;
  const auto count = std::count(defined.begin(), defined.end(), true);
  return count == 0 || defined != *defined_ ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

}  // namespace chexbench::measure
