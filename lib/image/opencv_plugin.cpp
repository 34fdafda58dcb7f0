#include "image/opencv_plugin.hpp"

#include <cstdio>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

namespace chexbench::image {
namespace {

struct Decoder {
  cv::Mat gray;
};

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

int decode(void* decoder, const std::uint8_t* bytes, std::size_t size, OpencvImage* image, char* reason,
           std::size_t reason_bytes) {
  try {
    cv::Mat& gray = static_cast<Decoder*>(decoder)->gray;
    const cv::Mat encoded(1, static_cast<int>(size), CV_8UC1, const_cast<std::uint8_t*>(bytes));
    // IMREAD_IGNORE_ORIENTATION, because TensorFlow and torchvision also ignore a camera's note on orientation.
    gray.release();  // otherwise OpenCV 4.6 returns the last image again if it cannot read this one
    if (cv::imdecode(encoded, cv::IMREAD_GRAYSCALE | cv::IMREAD_IGNORE_ORIENTATION, &gray).empty()) {
      std::snprintf(reason, reason_bytes, "OpenCV cannot read it");
      return 1;
    }
    *image = {gray.data, gray.cols, gray.rows, gray.step[0]};
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
