#include "core/errors.hpp"
#include "image/dicom/dicom_decoder.hpp"

namespace chexbench::image {

bool reads_dicom() { return false; }

std::unique_ptr<DicomDecoder> make_dicom_decoder() {
  throw DataError(
      "this chexbench was built without DCMTK, which DICOM files need: install libdcmtk-dev and build it again, or "
      "export the images to PNG first");
}

}  // namespace chexbench::image
