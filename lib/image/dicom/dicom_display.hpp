// How the stored values of a DICOM file become gray values: DICOM PS3.3 C.11.1 and C.11.2, like pydicom's
// apply_modality_lut() and apply_voi_lut().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "image/dicom/dicom_module.hpp"

namespace chexbench::image {

// Returns why the header cannot be displayed, or std::nullopt if it can.
std::optional<std::string> refuse_display(const DicomHeader& header);

// Writes the gray value of each possible pattern of bits_allocated bits into `table` (256 or 65536 entries). Other bits
// than the stored ones are ignored. Values are mapped by the modality LUT if there is one, else rescaled by slope and
// intercept; then mapped by the VOI LUT if there is one, else by the window, else from the least to the greatest value
// that the stored bits, or the modality LUT's entries, can hold; MONOCHROME1 is inverted last. Only for headers that
// refuse_display() takes.
void fill_display_table(const DicomHeader& header, std::vector<std::uint8_t>& table);

}  // namespace chexbench::image
