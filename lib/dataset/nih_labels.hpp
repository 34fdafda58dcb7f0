// The 14 findings of ChestX-ray14, in the order in which labels, logits and reports list them.
#pragma once

#include <array>
#include <string_view>

#include "core/batch.hpp"

namespace chexbench::dataset {

inline constexpr std::array<std::string_view, kNihLabels> kNihLabelNames = {
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};
inline constexpr std::string_view kNoFinding = "No Finding";

}  // namespace chexbench::dataset
