#include "engine/cuda/training/batch_input.hpp"

#include "engine/cuda/kernels/upload.hpp"

namespace chexbench::engine::cuda {
namespace {

// ImageNet's mean and standard deviation, as in the pipeline.
constexpr kernels::Normalization kNormalization{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

}  // namespace

void convert_images(const Addresses& addresses, Deliver deliver, const Region& images, kernels::Stream stream) {
  const Slice& input = addresses.config().program.input;
  const kernels::UploadCall call{.type = addresses.type(),
                                 .channels = input.channels,
                                 .pixels = addresses.rows(input),
                                 .to = addresses.activation(input).data};
  switch (deliver) {
    case Deliver::f32:
      return kernels::launch_upload_color(call, addresses.at<float>(images), stream);
    case Deliver::u8:
      return kernels::launch_upload_gray(call, addresses.at<std::uint8_t>(images), kNormalization, stream);
    case Deliver::u8_rgb:
      return kernels::launch_upload_rgb(call, addresses.at<std::uint8_t>(images), kNormalization, stream);
  }
}

}  // namespace chexbench::engine::cuda
