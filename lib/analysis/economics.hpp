// Determines whether it pays to convert or stage a data set: seconds spent once against seconds saved in each epoch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::analysis {

// The time spent once to convert or stage a data set.
struct OneTimeCost {
  double seconds = 0;
  std::uint64_t images = 0;  // the images that were converted or staged
};

// The cost and gain of a conversion or of staging.
struct Economics {
  double conversion_s = 0;  // time to convert or stage, scaled to the images of one epoch
  double saved_s = 0;       // per epoch; negative if each epoch takes longer
  std::uint64_t converted_bytes = 0;
  std::optional<double> epochs;  // until it has paid off; empty if it never does
  // The bounds that follow from the 95 % interval of the ratio of images/s, if there is one. `least_epochs` without
  // `most_epochs` means that it may never pay off.
  std::optional<double> least_epochs, most_epochs;
};

// Compares the same arm before and after `cost` was spent. Returns std::nullopt if the trials share no round, or if
// `cost` covers no images.
std::optional<Economics> pay_back(const results::TrialResult& before, const results::TrialResult& after,
                                  const OneTimeCost& cost);

// Returns the time saved per epoch in words: "0.25 s", or "nothing".
std::string saving_text(const Economics& economics);

// Returns the number of epochs in words: "it pays after 3.1 epochs (95 % interval 2.9 to 3.4)".
std::string epochs_text(const Economics& economics);

// Compares the same arm over image files and over the files that they were converted into. Returns std::nullopt if the
// trials share no round, or if the cost of the conversion is unknown.
std::optional<Economics> conversion_economics(const results::TrialResult& files, const results::TrialResult& converted);

// Returns the finding about when a deed, such as "conversion", pays off, without text and trial. `epoch_s` is the
// duration of an epoch without the deed.
results::Finding payment(const char* deed, const Economics& economics, double epoch_s);

// Returns a sentence for each such pair in `trials`, of the kind "economics".
std::vector<results::Finding> economics_findings(const std::vector<const results::TrialResult*>& trials);

}  // namespace chexbench::analysis
