#include "image/dicom/dicom_decoder.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/module.hpp"
#include "image/decoded_image.hpp"
#include "image/dicom/dicom_module.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

using Reason = std::array<char, 256>;

// More than any header needs, and the most that is inflated in addition to the pixels.
constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 20;

const DicomModule& load_module() {
  try {
    const auto entry = reinterpret_cast<DicomModuleEntry>(module_symbol("DICOM", kDicomModuleFile, kDicomModuleSymbol));
    if (entry()->version == kDicomModuleVersion) return *entry();
  } catch (const DeviceError& error) {
    throw DataError(fmt::format("{}: install libdcmtk17, or what the message names", error.what()));
  }
  throw DataError(fmt::format("{} is of another version of chexbench", kDicomModuleFile));
}

const DicomModule& module() {
  static const DicomModule& loaded = load_module();
  return loaded;
}

// Inflates a raw deflate stream. A small file could ask for any amount of memory, so there is a limit.
void inflate_raw(std::span<const std::byte> packed, std::vector<std::byte>& inflated) {
  const std::size_t most = kMostHeaderBytes + 2 * static_cast<std::size_t>(max_image_pixels());
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, ::inflateEnd);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  inflated.clear();
  int status = Z_OK;
  while (status == Z_OK && inflated.size() <= most) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    const std::size_t done = inflated.size();
    inflated.resize(done + std::max(kPiece, done / 2));
    stream.next_out = reinterpret_cast<Bytef*>(inflated.data() + done);
    stream.avail_out = static_cast<uInt>(inflated.size() - done);
    status = ::inflate(&stream, Z_NO_FLUSH);
    inflated.resize(inflated.size() - stream.avail_out);
  }
  if (inflated.size() > most) throw DataError(fmt::format("it inflates to more than {} bytes", most));
  if (status != Z_STREAM_END) throw DataError("its deflated data set is damaged or truncated");
}

// From here to fill_display_table(): how stored values become gray values, as in DICOM PS3.3 C.11.1 and C.11.2, like
// pydicom's apply_modality_lut() and apply_voi_lut().

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

// Returns why the header cannot be displayed, or std::nullopt if it can.
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

// Writes the gray value of each possible pattern of bits_allocated bits into `table` (256 or 65536 entries). Other bits
// than the stored ones are ignored. Values are mapped by the modality LUT if there is one, else rescaled by slope and
// intercept; then mapped by the VOI LUT if there is one, else by the window, else from the least to the greatest value
// that the stored bits, or the modality LUT's entries, can hold; MONOCHROME1 is inverted last. Only for headers that
// refuse_display() takes.
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

class ModuleDecoder final : public DicomDecoder {
 public:
  ModuleDecoder() : module_(module()), reader_(module_.create(), module_.destroy) {
    if (!reader_) throw std::bad_alloc();
  }

  DecodedImage decode(std::span<const std::byte> bytes) override {
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max()) throw DataError("it is too large for a DICOM file");
    const DicomHeader header = read_header(bytes);
    if (const auto refusal = refuse_size(header.width, header.height)) throw DataError(*refusal);
    if (const auto refusal = refuse_display(header)) throw DataError(*refusal);
    const void* values = nullptr;
    std::size_t count = 0;
    if (module_.unpack(reader_.get(), &values, &count, reason_.data(), reason_.size()) != 0) fail();
    const auto pixels = static_cast<std::size_t>(header.width) * static_cast<std::size_t>(header.height);
    if (count < pixels) throw DataError(fmt::format("it has {} of its {} pixels: it is truncated", count, pixels));
    fill_display_table(header, table_);
    auto* const gray = reinterpret_cast<std::uint8_t*>(gray_.reserve(pixels));
    if (header.bits_allocated == 8) {
      display(static_cast<const std::uint8_t*>(values), pixels, gray);
    } else {
      display(static_cast<const std::uint16_t*>(values), pixels, gray);
    }
    return {gray, header.width, header.height, static_cast<std::size_t>(header.width)};
  }

 private:
  [[noreturn]] void fail() const { throw DataError(reason_.data()); }

  DicomHeader read_header(std::span<const std::byte> bytes) {
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    bool is_deflated = false;
    const std::size_t begin =
        module_.begin(reader_.get(), data, bytes.size(), &is_deflated, reason_.data(), reason_.size());
    if (begin == 0 || begin > bytes.size()) fail();
    std::span<const std::byte> set = bytes.subspan(begin);
    if (is_deflated) {
      inflate_raw(set, inflated_);
      set = inflated_;
    }
    DicomHeader header;
    const auto* const set_data = reinterpret_cast<const std::uint8_t*>(set.data());
    if (module_.read(reader_.get(), set_data, set.size(), &header, reason_.data(), reason_.size()) != 0) fail();
    return header;
  }

  template <typename Value>
  void display(const Value* values, std::size_t count, std::uint8_t* gray) const {
    for (std::size_t i = 0; i < count; ++i) gray[i] = table_[values[i]];
  }

  const DicomModule& module_;
  const std::unique_ptr<void, void (*)(void*)> reader_;
  Reason reason_{};
  std::vector<std::uint8_t> table_;
  std::vector<std::byte> inflated_;
  storage::ByteBuffer gray_;
};

}  // namespace

bool reads_dicom() { return true; }

std::unique_ptr<DicomDecoder> make_dicom_decoder() { return std::make_unique<ModuleDecoder>(); }

}  // namespace chexbench::image
