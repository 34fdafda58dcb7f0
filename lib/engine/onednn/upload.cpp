#include "engine/onednn/upload.hpp"

#include <array>
#include <bit>

#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr int kChannels = 3;
constexpr std::array<float, kChannels> kMean{0.485f, 0.456f, 0.406f};
constexpr std::array<float, kChannels> kDeviation{0.229f, 0.224f, 0.225f};

std::array<std::array<float, 256>, kChannels> make_table() {
  std::array<std::array<float, 256>, kChannels> table;
  for (std::size_t c = 0; c < kChannels; ++c) {
    for (std::size_t value = 0; value < 256; ++value) {
      table[c][value] = (static_cast<float>(value) / 255.0f - kMean[c]) / kDeviation[c];
    }
  }
  return table;
}

void assign(float& to, float value) { to = value; }

// Converts to bf16: rounds to nearest, ties to even.
void assign(std::uint16_t& to, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  to = static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// Writes value(pixel, channel) to one image: plane by plane, or pixel by pixel.
template <typename T, typename Value>
void fill(T* to, std::size_t pixels, Layout layout, const Value& value) {
  if (layout == Layout::channels_last) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      for (std::size_t c = 0; c < kChannels; ++c) assign(to[pixel * kChannels + c], value(pixel, c));
    }
    return;
  }
  for (std::size_t c = 0; c < kChannels; ++c) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) assign(to[c * pixels + pixel], value(pixel, c));
  }
}

template <typename T>
void upload_image(const std::byte* from, Deliver deliver, const Tensor& input, T* to) {
  const auto pixels = static_cast<std::size_t>(input.shape.pixels());
  static const auto table = make_table();
  if (deliver == Deliver::f32) {
    const auto* values = reinterpret_cast<const float*>(from);
    fill(to, pixels, input.layout, [&](std::size_t pixel, std::size_t c) { return values[pixel * kChannels + c]; });
    return;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
  if (deliver == Deliver::u8) {
    fill(to, pixels, input.layout, [&](std::size_t pixel, std::size_t c) { return table[c][bytes[pixel]]; });
  } else {
    fill(to, pixels, input.layout,
         [&](std::size_t pixel, std::size_t c) { return table[c][bytes[pixel * kChannels + c]]; });
  }
}

template <typename T>
void upload_images(const Batch& batch, Tensor& input) {
  const auto values = static_cast<std::size_t>(input.shape.pixels()) * kChannels;
  parallel_for(input.shape.images, [&](int image) {
    const auto i = static_cast<std::size_t>(image);
    upload_image(batch.images + i * batch.shape.image_bytes(), batch.shape.deliver, input,
                 reinterpret_cast<T*>(input.data) + i * values);
  });
}

}  // namespace

void upload(const Batch& batch, Tensor& input) {
  input.type == FloatType::bf16 ? upload_images<std::uint16_t>(batch, input) : upload_images<float>(batch, input);
}

}  // namespace chexbench::engine::onednn
