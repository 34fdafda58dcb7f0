// Converts a delivered batch to the network's input: NHWC in the network's type, with channels padded by zeros.
#pragma once

#include <cstdint>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

inline constexpr int kImageChannels = 3;

// Mean and standard deviation per channel; chexbench uses ImageNet's (Normalization in image/preprocess_rows.hpp).
struct Normalization {
  float mean[kImageChannels];
  float deviation[kImageChannels];
};

// Normalizes with the same operations as the CPU engine, divisions included, so that in f32 both engines train on the
// same bits.
CHEXBENCH_HOST_DEVICE inline float normalized(std::uint8_t value, const Normalization& norm, int channel) {
  return (static_cast<float>(value) / 255.0f - norm.mean[channel]) / norm.deviation[channel];
}

// One call writes 16 bytes or one pixel, whichever is more.
template <typename T, int C>
inline constexpr int kPixelsAtOnce = kVectorWidth<T> > C ? kVectorWidth<T> / C : 1;

// Source must have channel(pixel, c), which returns f32, for c < 3.
template <typename Source, typename T, int C>
struct Upload {
  static constexpr int kPixels = kPixelsAtOnce<T, C>;
  Source source;
  T* to = nullptr;
  std::int64_t pixels = 0;  // Of all images.

  CHEXBENCH_HOST_DEVICE static std::int64_t calls(std::int64_t pixels) { return (pixels + kPixels - 1) / kPixels; }

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t call) const {
    const std::int64_t first = call * kPixels;
    if (first + kPixels <= pixels) {
      write<kPixels>(first);
    } else {
      for (std::int64_t pixel = first; pixel < pixels; ++pixel) write<1>(pixel);
    }
  }

 private:
  template <int P>
  CHEXBENCH_HOST_DEVICE void write(std::int64_t first) const {
    Pack<T, P * C> pack;
    for (int p = 0; p < P; ++p) {
      for (int c = 0; c < C; ++c) {
        pack.at[p * C + c] = Element<T>::narrow(c < kImageChannels ? source.channel(first + p, c) : 0.0f);
      }
    }
    store(to + first * C, pack);
  }
};

// u8 images with one gray channel, which becomes three channels.
struct GraySource {
  const std::uint8_t* gray = nullptr;
  Normalization norm;

  CHEXBENCH_HOST_DEVICE float channel(std::int64_t pixel, int c) const { return normalized(gray[pixel], norm, c); }
};

// u8 images with three channels.
struct RgbSource {
  const std::uint8_t* rgb = nullptr;
  Normalization norm;

  CHEXBENCH_HOST_DEVICE float channel(std::int64_t pixel, int c) const {
    return normalized(rgb[pixel * kImageChannels + c], norm, c);
  }
};

// f32 images with three channels, already normalized by the pipeline.
struct ColorSource {
  const float* values = nullptr;

  CHEXBENCH_HOST_DEVICE float channel(std::int64_t pixel, int c) const { return values[pixel * kImageChannels + c]; }
};

// Converts images to NHWC with `channels` = 4 or 8; the channels after the third are zero. `to` must be aligned to 16
// bytes.
// @throws DeviceError, also if `channels` is neither 4 nor 8
struct UploadCall {
  FloatType type = FloatType::f32;
  int channels = 4;
  std::int64_t pixels = 0;  // Of all images.
  void* to = nullptr;
};
void launch_upload_gray(const UploadCall& call, const std::uint8_t* gray, const Normalization& norm, Stream stream);
void launch_upload_rgb(const UploadCall& call, const std::uint8_t* rgb, const Normalization& norm, Stream stream);
void launch_upload_color(const UploadCall& call, const float* values, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
