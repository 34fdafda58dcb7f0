// The 14 findings of ChestX-ray14, in the order of the labels, the logits and the reports.
// They are spelled as in the published table, Data_Entry_2017.csv.
#pragma once

#include <array>
#include <string_view>

#include "core/batch.hpp"

namespace chexbench::dataset {

inline constexpr std::array<std::string_view, kNihLabels> kNihLabelNames = {
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};
inline constexpr std::string_view kNoFinding = "No Finding";  // the table's word for an image with none of them

}  // namespace chexbench::dataset
