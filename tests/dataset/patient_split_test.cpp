#include "dataset/splits.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/errors.hpp"

namespace chexbench::dataset {
namespace {

// Returns a data set of `patients` patients: the first has one image, the second two, and so on up to five.
Dataset dataset(std::uint32_t patients) {
  Dataset made;
  for (std::uint32_t patient = 1; patient <= patients; ++patient) {
    for (std::uint32_t i = 0; i <= patient % 5; ++i) {
      made.images.push_back({.name = fmt::format("{:03}_{}.png", patient, i), .patient = patient});
    }
  }
  made.total_bytes = 1000 * made.images.size();
  return made;
}

std::set<std::uint32_t> patients_of(const Dataset& part) {
  std::set<std::uint32_t> patients;
  for (const ImageEntry& image : part.images) patients.insert(image.patient);
  return patients;
}

TEST(PatientSplit, DividesPatientsAndLosesNoImage) {
  const Dataset all = dataset(100);
  const PatientSplit split = split_by_patient(all, 0.2);
  EXPECT_EQ(split.training.images.size() + split.validation.images.size(), all.images.size());
  EXPECT_EQ(patients_of(split.validation).size(), 20u);
  std::set<std::uint32_t> both = patients_of(split.training);
  both.merge(patients_of(split.validation));
  EXPECT_EQ(both.size(), 100u);
  EXPECT_EQ(patients_of(split.training).size(), 80u);
  EXPECT_NEAR(static_cast<double>(split.training.total_bytes + split.validation.total_bytes),
              static_cast<double>(all.total_bytes), 2);
}

TEST(PatientSplit, OfNoShareIsAllImagesTwice) {
  const PatientSplit split = split_by_patient(dataset(1), 0);
  EXPECT_EQ(split.training.images.size(), dataset(1).images.size());
  EXPECT_EQ(split.validation.images.size(), dataset(1).images.size());
  EXPECT_FALSE(split.validation.partial);
}

TEST(PatientSplit, KeepsTheOrderOfNames) {
  for (const Dataset& part :
       {split_by_patient(dataset(50), 0.3).training, split_by_patient(dataset(50), 0.3).validation}) {
    EXPECT_TRUE(std::ranges::is_sorted(part.images, {}, &ImageEntry::name));
  }
}

// The validation patients of a small share are among those of a larger share.
TEST(PatientSplit, GrowsWithTheShare) {
  const std::set<std::uint32_t> few = patients_of(split_by_patient(dataset(100), 0.1).validation);
  const std::set<std::uint32_t> many = patients_of(split_by_patient(dataset(100), 0.4).validation);
  EXPECT_TRUE(std::ranges::includes(many, few));
}

TEST(PatientSplit, LeavesEachPartSomebody) {
  EXPECT_EQ(patients_of(split_by_patient(dataset(3), 0.01).validation).size(), 1u);
  EXPECT_EQ(patients_of(split_by_patient(dataset(3), 0.9).training).size(), 1u);
  EXPECT_THROW(split_by_patient(dataset(1), 0.5), DataError);
  EXPECT_THROW(split_by_patient(dataset(0), 0.5), DataError);
}

}  // namespace
}  // namespace chexbench::dataset
