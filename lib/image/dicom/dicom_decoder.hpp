// Decodes X-rays in DICOM files by DCMTK. Only pixels and the values needed to display them are read: names, dates and
// numbers of patients are never read, and no message quotes a file's text.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "image/decoded_image.hpp"

namespace chexbench::image {

// Whether this build reads DICOM files.
bool reads_dicom();

// Returns whether the bytes begin as a DICOM file: "DICM" after a preamble of 128 bytes, or the file's header without
// either.
bool is_dicom(std::span<const std::byte> bytes);

// Most files begin with a preamble of arbitrary bytes and four letters. is_dicom() looks at as many bytes as these.
inline constexpr std::size_t kDicomPreambleBytes = 128;
inline constexpr std::string_view kDicomLetters = "DICM";
inline constexpr std::size_t kDicomBeginningBytes = kDicomPreambleBytes + kDicomLetters.size();

// Returns whether the name ends in .dcm or .dicom, in either case.
bool is_dicom_name(std::string_view name);

// Not thread-safe: use one per thread.
class DicomDecoder {
 public:
  virtual ~DicomDecoder() = default;
  // Decodes a file with one gray frame of 8 to 16 bits; see dicom_decoder.cpp. The result is valid until the next call.
  // @throws DataError without the file's name if it is damaged or truncated; has no pixels, colors, several frames or a
  // transfer syntax that DCMTK does not read; or asks for too much (decoded_image.hpp). In a build without DCMTK
  // always.
  // @throws SpecError as max_image_pixels()
  virtual DecodedImage decode(std::span<const std::byte> bytes) = 0;
};

// Loads DCMTK at its first call. @throws DataError if it cannot be loaded
std::unique_ptr<DicomDecoder> make_dicom_decoder();

}  // namespace chexbench::image
