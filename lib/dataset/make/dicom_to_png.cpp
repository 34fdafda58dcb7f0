#include "dataset/make/dicom_to_png.hpp"

namespace chexbench::dataset {

std::span<const std::byte> DicomToPng::run(std::span<const std::byte> dicom, const std::string& name) {
  if (!decoder_) decoder_ = image::make_decoder(spec::DecoderKind::fast);
  const image::DecodedImage image = decoder_->decode(dicom, name);
  pixels_.clear();
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* const row = image.pixels + static_cast<std::size_t>(y) * image.stride;
    pixels_.insert(pixels_.end(), row, row + image.width);
  }
  return writer_.encode(pixels_, image.width, image.height, image::PngStyle::published);
}

}  // namespace chexbench::dataset
