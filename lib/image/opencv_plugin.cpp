#include "image/opencv_plugin.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <utility>

#include "image/decoded_image.hpp"

namespace chexbench::image {
namespace {

struct Decoder {
  cv::Mat decoded;
  cv::Mat scaled;
};

// Whether the file is a PNG of 16 bits: the signature of 8 bytes is followed by IHDR, whose ninth byte is the bit
// depth.
bool is_png_of_16_bits(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::size_t kDepth = 8 + 8 + 8;
  return size > kDepth && bytes[1] == 'P' && bytes[2] == 'N' && bytes[3] == 'G' && bytes[kDepth] == 16;
}

// Returns the image with 8 bits for each channel, in `scaled` if it had 16.
cv::Mat& with_8_bits(cv::Mat& decoded, cv::Mat& scaled) {
  if (decoded.depth() != CV_16U) return decoded;
  scaled.create(decoded.size(), CV_MAKETYPE(CV_8U, decoded.channels()));
  const int columns = decoded.cols * decoded.channels();
  for (int y = 0; y < decoded.rows; ++y)
    std::transform(decoded.ptr<std::uint16_t>(y), decoded.ptr<std::uint16_t>(y) + columns, scaled.ptr<std::uint8_t>(y),
                   scaled_to_8_bits);
  return scaled;
}

// OpenCV's order is blue, green, red.
void swap_red_and_blue(cv::Mat& pixels) {
  for (int y = 0; y < pixels.rows; ++y) {
    std::uint8_t* const row = pixels.ptr<std::uint8_t>(y);
    for (int x = 0; x < pixels.cols; ++x) std::swap(row[3 * x], row[3 * x + 2]);
  }
}

void library_version(int* major, int* minor, int* revision) {
  *major = cv::getVersionMajor();
  *minor = cv::getVersionMinor();
  *revision = cv::getVersionRevision();
}

void* create() {
  // The pipeline decodes on its own threads, so OpenCV must not start more.
  cv::setNumThreads(0);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  return new (std::nothrow) Decoder;
}

void destroy(void* decoder) { delete static_cast<Decoder*>(decoder); }

int decode(void* decoder, const std::uint8_t* bytes, std::size_t size, int channels, OpencvImage* image, char* reason,
           std::size_t reason_bytes) {
  try {
    auto& [decoded, scaled] = *static_cast<Decoder*>(decoder);
    const cv::Mat encoded(1, static_cast<int>(size), CV_8UC1, const_cast<std::uint8_t*>(bytes));
    // IMREAD_IGNORE_ORIENTATION, because TensorFlow and torchvision also ignore the camera's orientation.
    decoded.release();  // otherwise OpenCV 4.6 returns the last image again if it cannot read this one
    const int depth = is_png_of_16_bits(bytes, size) ? cv::IMREAD_ANYDEPTH : 0;
    const int colors = channels == 1 ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR;
    if (cv::imdecode(encoded, colors | cv::IMREAD_IGNORE_ORIENTATION | depth, &decoded).empty()) {
      std::snprintf(reason, reason_bytes, "OpenCV cannot read it");
      return 1;
    }
    cv::Mat& pixels = with_8_bits(decoded, scaled);
    if (channels == 3) swap_red_and_blue(pixels);
    *image = {pixels.data, pixels.cols, pixels.rows, pixels.step[0]};
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(reason, reason_bytes, "OpenCV: %s", error.what());
    return 1;
  }
}

constexpr OpencvPlugin kPlugin = {kOpencvPluginVersion, library_version, create, destroy, decode};

}  // namespace
}  // namespace chexbench::image

extern "C" [[gnu::visibility("default")]] const chexbench::image::OpencvPlugin* chexbench_opencv() {
  return &chexbench::image::kPlugin;
}
