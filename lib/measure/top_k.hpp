// How often the right one of exclusive classes is among those that a network gives the highest scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "measure/patient_bootstrap.hpp"

namespace chexbench::measure {

// Returns the place of `right` among the classes by their scores, from 1; of equal scores the class with the lower
// number is first, so the places do not depend on a sort. Scores that are not numbers rank nothing: then it is the last
// place. `right` is an index of `scores`. Thread-safe.
std::size_t place_of_class(std::span<const float> scores, std::size_t right);

// One image: its class, and the place of that class among the network's.
struct PlacedImage {
  std::uint32_t label = 0;
  std::uint32_t patient = 0;
  std::size_t place = 0;  // from 1
};

// The images of one class.
struct ClassAccuracy {
  std::uint64_t images = 0;
  std::uint64_t in_top1 = 0;
  std::uint64_t in_top5 = 0;
};

struct ClassScores {
  Estimate top1;  // share of images whose class has the highest score
  Estimate top5;  // share of images whose class has one of the five highest
  std::vector<ClassAccuracy> classes;
};

inline constexpr std::size_t kTopK = 5;

// Images of one class that a network takes for another one.
struct Confusion {
  std::uint32_t label = 0;  // what they are
  std::uint32_t taken_for = 0;
  std::uint64_t images = 0;
};

// Returns the pairs of classes that are confused most often, at most `most` of them; pairs of as many images are in the
// order of their classes. `labels` and `taken_for` have one class of each image. Thread-safe.
std::vector<Confusion> most_confused(std::span<const std::uint32_t> labels, std::span<const std::uint32_t> taken_for,
                                     std::size_t most);

// Computes the shares, with 95 % intervals over patients (patient_bootstrap.hpp). Thread-safe.
// @throws InterruptedError if a signal arrives meanwhile
ClassScores summarize_classes(const std::vector<PlacedImage>& images, std::size_t classes);

}  // namespace chexbench::measure
