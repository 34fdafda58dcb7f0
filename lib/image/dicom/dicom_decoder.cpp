#include "image/dicom/dicom_decoder.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <vector>

#include "core/errors.hpp"
#include "core/module.hpp"
#include "image/dicom/dicom_display.hpp"
#include "image/image_limits.hpp"
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
