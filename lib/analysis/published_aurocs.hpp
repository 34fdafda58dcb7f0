// AUROCs that others have published for ChestX-ray14, to stand beside those that are measured. Pure functions,
// thread-safe.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"

namespace chexbench::analysis {

// What one source has published. All of them tested on images of their own choice: a random split by patients, and not
// the official test list, which is harder.
struct PublishedAurocs {
  std::string_view name;                   // "CheXNet"
  std::string_view source;                 // where it is from
  std::string_view images;                 // of which images it is
  double mean = 0;                         // over the findings
  std::array<double, kNihLabels> of = {};  // in the order of the labels
};

// The same for every caller.
std::span<const PublishedAurocs> published_aurocs();

// Returns whether these are the 14 findings, in their order, for which the figures are.
bool has_published_aurocs(const std::vector<std::string>& labels);

// Returns one sentence on what all of them have in common.
inline constexpr std::string_view kPublishedOfOtherData =
    "Published AUROCs are of other images: random splits of ChestX-ray14 by patients, not its official test list";

}  // namespace chexbench::analysis
