#include "image/preprocess.hpp"

#include <array>
#include <utility>

#include "image/preprocess_tables.hpp"

namespace chexbench::image {
namespace {

// Writes rows of resized gray pixels into the slot, in the type that the batch delivers.
class RowWriter {
 public:
  RowWriter(const BatchShape& shape, const RowKernels& kernels) : shape_(shape), kernels_(kernels) {}

  void write(const float* gray, int y, std::byte* image) const {
    const auto columns = static_cast<std::size_t>(shape_.width);
    std::byte* const row = image + static_cast<std::size_t>(y) * (shape_.image_bytes() / shape_.height);
    if (shape_.deliver == Deliver::f32) {
      kernels_.write_f32(gray, normalization_, reinterpret_cast<float*>(row), columns);
    } else {
      kernels_.write_u8(gray, reinterpret_cast<std::uint8_t*>(row), columns);
    }
  }

 private:
  const BatchShape shape_;
  const RowKernels& kernels_;
  const Normalization normalization_ = imagenet_normalization();
};

// The tables of either method. They are kept as long as images have the size of the last one.
template <typename Tap, typename Columns>
struct Tables {
  int width = 0;
  int height = 0;
  std::vector<Tap> rows;
  std::array<Columns, 2> columns;  // [flip]

  bool fit(const GrayImage& image) const { return width == image.width && height == image.height; }
};

const std::uint8_t* row_of(const GrayImage& image, int y) {
  return image.pixels + static_cast<std::size_t>(y) * image.stride;
}

class Bilinear final : public Preprocessor {
 public:
  Bilinear(const BatchShape& shape, Isa isa)
      : shape_(shape),
        kernels_(row_kernels(isa)),
        writer_(shape, kernels_),
        upper_(static_cast<std::size_t>(padded_columns(shape.width))),
        lower_(upper_.size()) {}

  void run(const GrayImage& image, bool flip, std::byte* destination) override {
    if (!tables_.fit(image)) prepare(image);
    const LinearColumns& columns = tables_.columns[flip ? 1 : 0];
    for (int y = 0; y < shape_.height; ++y) {
      const LinearTap& tap = tables_.rows[static_cast<std::size_t>(y)];
      kernels_.interpolate(row_of(image, tap.first), columns, upper_.data());
      kernels_.interpolate(row_of(image, tap.second), columns, lower_.data());
      kernels_.blend(upper_.data(), lower_.data(), tap.weight, upper_.data(), upper_.size());
      writer_.write(upper_.data(), y, destination);
    }
  }

 private:
  void prepare(const GrayImage& image) {
    tables_.rows = linear_taps(image.height, shape_.height);
    for (const bool flip : {false, true}) {
      tables_.columns[flip ? 1 : 0] = linear_columns(image.width, shape_.width, flip);
    }
    tables_.width = image.width;
    tables_.height = image.height;
  }

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
      : shape_(shape),
        kernels_(row_kernels(isa)),
        writer_(shape, kernels_),
        gray_(static_cast<std::size_t>(padded_columns(shape.width))) {}

  void run(const GrayImage& image, bool flip, std::byte* destination) override {
    if (!tables_.fit(image)) prepare(image);
    const auto width = static_cast<std::size_t>(image.width);
    for (int y = 0; y < shape_.height; ++y) {
      const AreaTap& tap = tables_.rows[static_cast<std::size_t>(y)];
      std::fill_n(sums_.begin(), width, 0.0f);
      for (std::size_t t = 0; t < tap.weights.size(); ++t) {
        kernels_.accumulate(row_of(image, tap.start + static_cast<int>(t)), tap.weights[t], sums_.data(), width);
      }
      kernels_.sum_area(sums_.data(), tables_.columns[flip ? 1 : 0], gray_.data());
      writer_.write(gray_.data(), y, destination);
    }
  }

 private:
  void prepare(const GrayImage& image) {
    tables_.rows = area_taps(image.height, shape_.height);
    for (const bool flip : {false, true}) {
      tables_.columns[flip ? 1 : 0] = area_columns(image.width, shape_.width, flip);
    }
    // The zeros after the last column are for output columns with fewer taps than others, which read beyond it with
    // weight 0.
    sums_.assign(static_cast<std::size_t>(image.width + tables_.columns[0].taps), 0.0f);
    tables_.width = image.width;
    tables_.height = image.height;
  }

  const BatchShape shape_;
  const RowKernels& kernels_;
  const RowWriter writer_;
  Tables<AreaTap, AreaColumns> tables_;
  std::vector<float> sums_;
  std::vector<float> gray_;
};

}  // namespace

std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape, Isa isa) {
  if (resize == spec::ResizeMethod::area) return std::make_unique<Area>(shape, isa);
  return std::make_unique<Bilinear>(shape, isa);
}

std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape) {
  return make_preprocessor(resize, shape, best_isa());
}

}  // namespace chexbench::image
