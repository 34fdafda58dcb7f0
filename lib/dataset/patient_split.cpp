#include "dataset/patient_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "core/random.hpp"

namespace chexbench::dataset {
namespace {

constexpr std::uint64_t kSeed = fnv1a64("validation");

// Returns the patients whose numbers have the smallest hashes. This is a random draw that changes little when patients
// are added.
std::set<std::uint32_t> validation_patients(const Dataset& dataset, double share) {
  std::set<std::pair<std::uint64_t, std::uint32_t>> patients;
  for (const ImageEntry& image : dataset.images) patients.emplace(derive_seed(kSeed, image.patient), image.patient);
  if (patients.size() < 2) {
    throw DataError(fmt::format("{} of one patient cannot be divided into training images and validation images",
                                dataset.images.size() == 1 ? "an image" : "images"));
  }
  const auto wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(patients.size())));
  std::set<std::uint32_t> chosen;
  for (const auto& [hash, patient] : patients) {
    if (chosen.size() == std::clamp(wanted, std::size_t{1}, patients.size() - 1)) break;
    chosen.insert(patient);
  }
  return chosen;
}

}  // namespace

PatientSplit split_by_patient(const Dataset& dataset, double validation_share) {
  if (validation_share == 0) return {dataset, dataset};
  const std::set<std::uint32_t> chosen = validation_patients(dataset, validation_share);
  PatientSplit split;
  for (Dataset* const part : {&split.training, &split.validation}) {
    part->format = dataset.format;
    part->shards = dataset.shards;
    part->shard_bytes = dataset.shard_bytes;
    part->store = dataset.store;
    part->compressed = dataset.compressed;
    part->cached = dataset.cached;
    part->label_names = dataset.label_names;
    part->partial = true;
  }
  for (const ImageEntry& image : dataset.images) {
    (chosen.contains(image.patient) ? split.validation : split.training).images.push_back(image);
  }
  const auto bytes_of = [&](const Dataset& part) {
    const double share = static_cast<double>(part.images.size()) / static_cast<double>(dataset.images.size());
    return static_cast<std::uint64_t>(share * static_cast<double>(dataset.total_bytes));
  };
  split.training.total_bytes = bytes_of(split.training);
  split.validation.total_bytes = bytes_of(split.validation);
  return split;
}

PatientSplit split_for_epochs(const Dataset& dataset, double validation_share) {
  if (validation_share == 0 || !dataset.validation) return split_by_patient(dataset, validation_share);
  return {dataset, *dataset.validation};
}

}  // namespace chexbench::dataset
