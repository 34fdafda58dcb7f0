#include "measure/top_k.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace chexbench::measure {

std::size_t place_of_class(std::span<const float> scores, std::size_t right) {
  std::size_t place = 1;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) return scores.size();
    if (scores[i] > scores[right] || (scores[i] == scores[right] && i < right)) ++place;
  }
  return place;
}

ClassScores summarize_classes(const std::vector<PlacedImage>& images, std::size_t classes) {
  ClassScores scores;
  scores.classes.resize(classes);
  std::vector<std::uint32_t> patients;
  for (const PlacedImage& image : images) {
    ClassAccuracy& accuracy = scores.classes.at(image.label);
    ++accuracy.images;
    accuracy.in_top1 += image.place == 1 ? 1 : 0;
    accuracy.in_top5 += image.place <= kTopK ? 1 : 0;
    patients.push_back(image.patient);
  }
  const auto shares = [&images](std::span<const std::uint32_t> weight, std::span<std::optional<double>> values) {
    double all = 0, top1 = 0, top5 = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      all += weight[i];
      top1 += images[i].place == 1 ? weight[i] : 0;
      top5 += images[i].place <= kTopK ? weight[i] : 0;
    }
    values[0] = all > 0 ? std::optional(top1 / all) : std::nullopt;
    values[1] = all > 0 ? std::optional(top5 / all) : std::nullopt;
  };
  const std::vector<Estimate> estimates = bootstrap_over_patients(patients, 2, shares);
  scores.top1 = estimates[0];
  scores.top5 = estimates[1];
  return scores;
}

std::vector<Confusion> most_confused(std::span<const std::uint32_t> labels, std::span<const std::uint32_t> taken_for,
                                     std::size_t most) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != taken_for[i]) ++counts[{labels[i], taken_for[i]}];
  std::vector<Confusion> confusions;
  for (const auto& [pair, images] : counts)
    confusions.push_back({.label = pair.first, .taken_for = pair.second, .images = images});
  std::ranges::stable_sort(confusions, std::greater{}, &Confusion::images);
  confusions.resize(std::min(confusions.size(), most));
  return confusions;
}

}  // namespace chexbench::measure
