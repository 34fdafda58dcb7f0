// Whether it pays to convert PNGs to TFRecords: seconds once against seconds saved each epoch.
#pragma once

#include <optional>
#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

struct Economics {
  double conversion_s = 0;  // of the images of one epoch
  double saved_s = 0;       // an epoch; negative: lost
  std::uint64_t tfrecord_bytes = 0;
  std::optional<double> epochs;  // after which the conversion is paid for; empty: never
  // By the 95 % interval of the ratio of images/s, where there is one; an empty `most`: maybe never.
  std::optional<double> least_epochs, most_epochs;
};

// Of the same arm over PNGs and over TFRecords, both measured. Nothing where the conversion's cost is not known.
std::optional<Economics> tfrecord_economics(const TrialResult& png, const TrialResult& tfrecord);

// A sentence for each such pair of `trials`. Kind: economics.
std::vector<Finding> economics_findings(const std::vector<const TrialResult*>& trials);

}  // namespace chexbench::report
