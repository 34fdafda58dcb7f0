#include "image/preprocess.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "image/preprocess_rows.hpp"

namespace chexbench::image {
namespace {

// Writes rows of resized pixels into the slot, in the type that the batch delivers.
class RowWriter {
 public:
  RowWriter(const BatchShape& shape, const RowKernels& kernels) : shape_(shape), kernels_(kernels) {}

  void write(const float* values, int channels, int y, std::byte* image) const {
    const auto pixels = static_cast<std::size_t>(shape_.width);
    std::byte* const row = image + static_cast<std::size_t>(y) * (shape_.image_bytes() / shape_.height);
    if (shape_.deliver == Deliver::f32) {
      const auto write_pixels = channels == 1 ? kernels_.write_f32 : kernels_.write_rgb_f32;
      return write_pixels(values, normalization_, reinterpret_cast<float*>(row), pixels);
    }
    auto* const bytes = reinterpret_cast<std::uint8_t*>(row);
    kernels_.write_u8(values, bytes, pixels * static_cast<std::size_t>(channels));
    if (channels < shape_.channels()) make_rgb(bytes, pixels);
  }

 private:
  // Spreads gray values at the front of the row over three channels, from the last one to the first, so that none is
  // overwritten before it is read.
  static void make_rgb(std::uint8_t* row, std::size_t pixels) {
    for (std::size_t i = pixels; i-- > 0;) std::fill_n(row + 3 * i, 3, row[i]);
  }

  const BatchShape shape_;
  const RowKernels& kernels_;
  const Normalization normalization_ = imagenet_normalization();
};

// The tables of either method, kept while images have the size of the last one.
template <typename Tap, typename Columns>
struct Tables {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<Tap> rows;
  std::array<Columns, 2> columns;  // [flip]

  bool fit(const DecodedImage& image) const {
    return width == image.width && height == image.height && channels == image.channels;
  }
  void make(const DecodedImage& image, const BatchShape& shape, std::vector<Tap> (*make_rows)(int, int),
            Columns (*make_columns)(const RowShape&)) {
    rows = make_rows(image.height, shape.height);
    for (const bool flip : {false, true}) {
      columns[flip ? 1 : 0] =
          make_columns({.source = image.width, .output = shape.width, .channels = image.channels, .flip = flip});
    }
    width = image.width;
    height = image.height;
    channels = image.channels;
  }
};

// The floats of a row of the output, of gray or colors.
std::size_t row_values(const BatchShape& shape) {
  constexpr int kMostChannels = 3;
  return static_cast<std::size_t>(padded_columns(shape.width * kMostChannels));
}

const std::uint8_t* row_of(const DecodedImage& image, int y) {
  return image.pixels + static_cast<std::size_t>(y) * image.stride;
}

class Bilinear final : public Preprocessor {
 public:
  Bilinear(const BatchShape& shape, Isa isa)
      : shape_(shape),
        kernels_(row_kernels(isa)),
        writer_(shape, kernels_),
        upper_(row_values(shape)),
        lower_(upper_.size()) {}

  void run(const DecodedImage& image, bool flip, std::byte* destination) override {
    if (!tables_.fit(image)) tables_.make(image, shape_, linear_taps, linear_columns);
    const LinearColumns& columns = tables_.columns[flip ? 1 : 0];
    for (int y = 0; y < shape_.height; ++y) {
      const LinearTap& tap = tables_.rows[static_cast<std::size_t>(y)];
      kernels_.interpolate(row_of(image, tap.first), columns, upper_.data());
      kernels_.interpolate(row_of(image, tap.second), columns, lower_.data());
      kernels_.blend(upper_.data(), lower_.data(), tap.weight, upper_.data(), columns.weight.size());
      writer_.write(upper_.data(), image.channels, y, destination);
    }
  }

 private:
  const BatchShape shape_;
  const RowKernels& kernels_;
  const RowWriter writer_;
  Tables<LinearTap, LinearColumns> tables_;
  std::vector<float> upper_;
  std::vector<float> lower_;
};

// Adds up whole source rows first, then columns.
class Area final : public Preprocessor {
 public:
  Area(const BatchShape& shape, Isa isa)
      : shape_(shape), kernels_(row_kernels(isa)), writer_(shape, kernels_), means_(row_values(shape)) {}

  void run(const DecodedImage& image, bool flip, std::byte* destination) override {
    if (!tables_.fit(image)) prepare(image);
    const auto columns = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
    for (int y = 0; y < shape_.height; ++y) {
      const AreaTap& tap = tables_.rows[static_cast<std::size_t>(y)];
      std::fill_n(sums_.begin(), columns, 0.0f);
      for (std::size_t t = 0; t < tap.weights.size(); ++t) {
        kernels_.accumulate(row_of(image, tap.start + static_cast<int>(t)), tap.weights[t], sums_.data(), columns);
      }
      kernels_.sum_area(sums_.data(), tables_.columns[flip ? 1 : 0], means_.data());
      writer_.write(means_.data(), image.channels, y, destination);
    }
  }

 private:
  void prepare(const DecodedImage& image) {
    tables_.make(image, shape_, area_taps, area_columns);
    // The zeros after the last column are for output columns with fewer taps than others, which read beyond it with
    // weight 0.
    const auto columns = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
    sums_.assign(columns + tables_.columns[0].reach(), 0.0f);
  }

  const BatchShape shape_;
  const RowKernels& kernels_;
  const RowWriter writer_;
  Tables<AreaTap, AreaColumns> tables_;
  std::vector<float> sums_;
  std::vector<float> means_;
};

}  // namespace

std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape, Isa isa) {
  if (resize == spec::ResizeMethod::area) return std::make_unique<Area>(shape, isa);
  return std::make_unique<Bilinear>(shape, isa);
}

std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape) {
  return make_preprocessor(resize, shape, best_isa());
}

namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

void TensorMaker::Free::operator()(std::byte* p) const { ::operator delete(p, kAlignment); }

TensorMaker::TensorMaker(const BatchShape& shape, spec::ResizeMethod resize)
    : decoder_(make_decoder(spec::DecoderKind::fast, {},
                            shape.deliver == Deliver::u8_rgb ? spec::Color::rgb : spec::Color::gray)),
      preprocessor_(make_preprocessor(resize, shape)),
      bytes_(shape.bytes()),
      memory_(static_cast<std::byte*>(::operator new(bytes_, kAlignment))) {}

std::span<const std::byte> TensorMaker::run(std::span<const std::byte> bytes, const std::string& name) {
  preprocessor_->run(decoder_->decode(bytes, name), false, memory_.get());
  return memory();
}

}  // namespace chexbench::image
