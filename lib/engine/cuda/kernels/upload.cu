#include "engine/cuda/kernels/upload.hpp"

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

template <int C, typename Source>
void upload(const UploadCall& call, const Source& source, Stream stream) {
  with_type(call.type, [&]<typename T>() {
    using Op = Upload<Source, T, C>;
    launch_calls(Op{source, static_cast<T*>(call.to), call.pixels}, Op::calls(call.pixels), stream);
  });
}

template <typename Source>
void upload_from(const UploadCall& call, const Source& source, Stream stream) {
  check_cuda(call.channels == 4 || call.channels == 8 ? cudaSuccess : cudaErrorInvalidValue, "upload: 4 or 8 channels");
  (call.channels == 4 ? upload<4, Source> : upload<8, Source>)(call, source, stream);
}

}  // namespace

void launch_upload_gray(const UploadCall& call, const std::uint8_t* gray, const Normalization& norm, Stream stream) {
  upload_from(call, GraySource{gray, norm}, stream);
}

void launch_upload_rgb(const UploadCall& call, const std::uint8_t* rgb, const Normalization& norm, Stream stream) {
  upload_from(call, RgbSource{rgb, norm}, stream);
}

void launch_upload_color(const UploadCall& call, const float* values, Stream stream) {
  upload_from(call, ColorSource{values}, stream);
}

}  // namespace chexbench::engine::cuda::kernels
