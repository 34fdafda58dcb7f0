// DICOM files: the result does not depend on the previous file. A build without DCMTK has nothing to test.
#include "fuzz/fuzz.hpp"
#include "fuzz/pixels.hpp"
#include "image/dicom/dicom_decoder.hpp"

namespace chexbench::fuzz {
namespace {

constexpr std::int64_t kMostDicomPixels = 1 << 20;

}  // namespace

FUZZ_TARGET(dicom, "image/dicom/dicom_decoder.cpp image/dicom/dicom_name.cpp") {
  if (!image::reads_dicom() || !image::is_dicom(bytes)) return;
  static const auto used = image::make_dicom_decoder();
  const auto decode = [&](image::DicomDecoder& decoder) {
    return accepted({ExitCode::data}, [&] { return copy_of(decoder.decode(bytes)); });
  };
  const std::optional<Pixels> decoded = decode(*used);
  if (decoded && std::int64_t{decoded->width} * decoded->height > kMostDicomPixels) return;
  require(decoded == decode(*image::make_dicom_decoder()), "what a DICOM file decodes to depends on the one before it");
}

}  // namespace chexbench::fuzz
