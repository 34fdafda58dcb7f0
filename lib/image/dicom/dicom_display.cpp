#include "image/dicom/dicom_display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace chexbench::image {
namespace {

using Window = DicomHeader::Window;

// The values of the stored bits, as numbers.
class StoredBits {
 public:
  explicit StoredBits(const DicomHeader& header)
      : shift_(header.high_bit + 1 - header.bits_stored), bits_(header.bits_stored), is_signed_(header.is_signed) {}

  int least() const { return is_signed_ ? -(1 << (bits_ - 1)) : 0; }
  int greatest() const { return least() + (1 << bits_) - 1; }
  int of(std::size_t pattern) const {
    const int value = static_cast<int>(pattern >> shift_) & ((1 << bits_) - 1);
    return is_signed_ && value >> (bits_ - 1) != 0 ? value - (1 << bits_) : value;
  }

 private:
  const int shift_, bits_;
  const bool is_signed_;
};

// Returns a table's entry for a value.
int entry_of(const DicomLut& lut, double value) {
  return lut.values[static_cast<int>(std::clamp(value - lut.first, 0.0, lut.entries - 1.0))];
}

double greatest_entry(const DicomLut& lut) { return (1 << lut.bits) - 1; }

// Return the brightness of a value, from 0 to 1.
double in_lut(const DicomLut& lut, double value) { return entry_of(lut, value) / greatest_entry(lut); }

double in_window(const DicomHeader& header, double value) {
  if (header.window == Window::sigmoid) {
    return 1 / (1 + std::exp(-4 * (value - header.center) / header.window_width));
  }
  const double one = header.window == Window::linear ? 1 : 0;
  const double center = header.center - one / 2, width = header.window_width - one;
  if (value <= center - width / 2) return 0;
  if (value > center + width / 2) return 1;
  return (value - center) / width + 0.5;
}

struct Range {
  double low = 0, high = 0;
};

double in_range(const Range& range, double value) { return (value - range.low) / (range.high - range.low); }

// The stored values after the modality LUT, or else slope and intercept.
class Modality {
 public:
  explicit Modality(const DicomHeader& header) : header_(header) {}

  double of(int stored) const {
    if (header_.modality.values != nullptr) return entry_of(header_.modality, stored);
    return stored * header_.slope + header_.intercept;
  }
  Range range(const StoredBits& stored) const {
    if (header_.modality.values != nullptr) return {0, greatest_entry(header_.modality)};
    const double first = of(stored.least()), last = of(stored.greatest());  // a slope may be negative
    return {std::min(first, last), std::max(first, last)};
  }

 private:
  const DicomHeader& header_;
};

std::optional<std::string> refuse_lut(const DicomLut& lut, const char* name) {
  if (lut.values == nullptr || (lut.entries >= 1 && lut.bits >= 8 && lut.bits <= 16)) return std::nullopt;
  return fmt::format("its {} has entries of {} bits: 8 to 16 are read", name, lut.bits);
}

}  // namespace

std::optional<std::string> refuse_display(const DicomHeader& header) {
  if (header.bits_allocated != 8 && header.bits_allocated != 16) {
    return fmt::format("it has {} bits for each pixel: 8 and 16 are read", header.bits_allocated);
  }
  if (header.bits_stored < 1 || header.bits_stored > header.bits_allocated ||
      header.high_bit < header.bits_stored - 1 || header.high_bit >= header.bits_allocated) {
    return fmt::format("its pixels have {} bits up to bit {} of {}, which is contradictory", header.bits_stored,
                       header.high_bit, header.bits_allocated);
  }
  if (auto refusal = refuse_lut(header.modality, "modality LUT")) return refusal;
  if (auto refusal = refuse_lut(header.voi, "VOI LUT")) return refusal;
  const bool is_rescaled = std::isfinite(header.slope) && std::isfinite(header.intercept) && header.slope != 0;
  if (header.modality.values == nullptr && !is_rescaled) {
    return fmt::format("its rescale slope is {} and its intercept {}, so pixels have no value", header.slope,
                       header.intercept);
  }
  if (header.voi.values != nullptr) return std::nullopt;
  const double least_width = header.window == Window::linear ? 1 : 0;
  const bool is_wide = header.window_width >= least_width && header.window_width > 0;
  if (header.window == Window::none || (is_wide && std::isfinite(header.center) && std::isfinite(header.window_width)))
    return std::nullopt;
  return fmt::format("its window has center {} and width {}", header.center, header.window_width);
}

void fill_display_table(const DicomHeader& header, std::vector<std::uint8_t>& table) {
  const StoredBits stored(header);
  const Modality modality(header);
  const Range range = modality.range(stored);
  table.resize(std::size_t{1} << header.bits_allocated);
  for (std::size_t pattern = 0; pattern < table.size(); ++pattern) {
    const double value = modality.of(stored.of(pattern));
    const double place = header.voi.values != nullptr    ? in_lut(header.voi, value)
                         : header.window != Window::none ? in_window(header, value)
                                                         : in_range(range, value);
    const auto gray = static_cast<std::uint8_t>(std::clamp(place, 0.0, 1.0) * 255 + 0.5);
    table[pattern] = header.is_inverted ? static_cast<std::uint8_t>(255 - gray) : gray;
  }
}

}  // namespace chexbench::image
