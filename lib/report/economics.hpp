// Whether it pays to convert or to stage a data set: seconds once against seconds saved each epoch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// What was spent once on a data set.
struct OneTimeCost {
  double seconds = 0;
  std::uint64_t images = 0;  // that it was spent on
};

struct Economics {
  double conversion_s = 0;  // or of staging; of the images of one epoch
  double saved_s = 0;       // an epoch; negative: lost
  std::uint64_t converted_bytes = 0;
  std::optional<double> epochs;  // after which the conversion is paid for; empty: never
  // By the 95 % interval of the ratio of images/s, where there is one; an empty `most`: maybe never.
  std::optional<double> least_epochs, most_epochs;
};

// Of the same arm before and after `cost` was spent, both measured. Nothing where there is no ratio of the two.
std::optional<Economics> pay_back(const TrialResult& before, const TrialResult& after, const OneTimeCost& cost);

// Of an epoch: "0.25 s", "nothing".
std::string saving_text(const Economics& economics);

// "it pays after 3.1 epochs (95 % interval 2.9 to 3.4)".
std::string epochs_text(const Economics& economics);

// Of the same arm over image files and over what they were converted into, both measured. Nothing where the
// conversion's cost is not known.
std::optional<Economics> conversion_economics(const TrialResult& png, const TrialResult& converted);

// A sentence for each such pair of `trials`. Kind: economics.
std::vector<Finding> economics_findings(const std::vector<const TrialResult*>& trials);

}  // namespace chexbench::report
