#include <cstdlib>
#include <memory>
#include <opencv2/core/version.hpp>
#include <opencv2/imgcodecs.hpp>

#include "image/decode_peers.hpp"

namespace chexbench::image {
namespace {

PeerDecoder opencv() {
  const auto gray = std::make_shared<cv::Mat>();
  return {"opencv", CV_VERSION, [gray](std::span<const std::byte> bytes) {
            const cv::Mat file(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<std::byte*>(bytes.data()));
            cv::imdecode(file, cv::IMREAD_GRAYSCALE, gray.get());
            if (gray->empty()) std::abort();
          }};
}

const AddPeer kOpencv(opencv());

}  // namespace
}  // namespace chexbench::image
