#include "dataset/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

// The names that the loader of Hugging Face's datasets knows, and MIMIC-CXR's "validate".
constexpr std::array<std::pair<std::string_view, bool IndexRow::*>, 11> kSplitNames{
    {{"train", &IndexRow::in_train},
     {"training", &IndexRow::in_train},
     {"val", &IndexRow::in_val},
     {"valid", &IndexRow::in_val},
     {"validate", &IndexRow::in_val},
     {"validation", &IndexRow::in_val},
     {"dev", &IndexRow::in_val},
     {"test", &IndexRow::in_test},
     {"testing", &IndexRow::in_test},
     {"eval", &IndexRow::in_test},
     {"evaluation", &IndexRow::in_test}}};
constexpr std::size_t kLongestName = 10;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool IndexRow::*split_called(std::string_view name) {
  if (name.size() > kLongestName) return nullptr;
  const std::string lower = lower_case(name);
  const auto* const found = std::ranges::find(kSplitNames, lower, &decltype(kSplitNames)::value_type::first);
  return found == kSplitNames.end() ? nullptr : found->second;
}

bool suggests_split(std::string_view name) {
  auto at = name.begin();
  while ((at = std::find_if(at, name.end(), is_letter)) != name.end()) {
    const auto end = std::find_if_not(at, name.end(), is_letter);
    if (split_called({at, end}) != nullptr) return true;
    at = end;
  }
  return false;
}

void note_split(bool IndexRow::*split, Index& index) {
  index.has_train_list |= split == &IndexRow::in_train;
  index.has_val_list |= split == &IndexRow::in_val;
  index.has_test_list |= split == &IndexRow::in_test;
}

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
