// Decodes real X-rays, resizes them by both methods, and compares the results with values from TensorFlow; and pictures
// in color with values from Pillow, PyTorch and torchvision.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "image/isa_test.hpp"
#include "image/pixels.hpp"
#include "image/preprocess.hpp"
#include "image/sha256.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

constexpr double kTolerance = 2e-6;  // of pixel / 255
constexpr double kMean[3] = {0.485, 0.456, 0.406};
constexpr double kStd[3] = {0.229, 0.224, 0.225};
const BatchShape kShape{.images = 1, .height = 224, .width = 224, .deliver = Deliver::f32};

nlohmann::json golden_images() {
  std::ifstream file(CHEXBENCH_GOLDEN "/preprocess.json");
  return nlohmann::json::parse(file).at("images");
}

std::vector<std::filesystem::path> shipped_images() {
  const std::filesystem::directory_iterator files(CHEXBENCH_TEST_DATA "/images");
  return {begin(files), end(files)};
}

std::string digest(const DecodedImage& image) { return test::sha256_hex(test::pixels_of(image)); }

// Returns one channel of the tensor, converted back to pixel / 255.
std::vector<double> unnormalized(const std::vector<float>& tensor, std::size_t channel) {
  std::vector<double> values;
  for (std::size_t i = channel; i < tensor.size(); i += 3) values.push_back(tensor[i] * kStd[channel] + kMean[channel]);
  return values;
}

void expect_golden(const std::vector<double>& values, const nlohmann::json& golden, const std::string& what) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  const double mean = sum / static_cast<double>(values.size());
  EXPECT_NEAR(mean, golden.at("mean").get<double>(), kTolerance) << what;
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(values.size()) - mean * mean), golden.at("std").get<double>(),
              kTolerance)
      << what;
  for (std::size_t i = 0; i < golden.at("value").size(); ++i) {
    const auto row = golden.at("row_col")[i][0].get<std::size_t>();
    const auto column = golden.at("row_col")[i][1].get<std::size_t>();
    EXPECT_NEAR(values[row * 224 + column], golden.at("value")[i].get<double>(), kTolerance)
        << what << " at row " << row << ", column " << column;
  }
}

TEST(Sha256, DigestsTheStandardsExample) {
  EXPECT_EQ(test::sha256_hex({'a', 'b', 'c'}), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(DecodeGolden, EachDecoderGivesTheGoldenPixelsOfRealXrays) {
  const nlohmann::json golden = golden_images();
  for (const auto kind : {spec::DecoderKind::fast, spec::DecoderKind::opencv}) {
    const auto decoder = make_decoder(kind);
    storage::ByteBuffer buffer;
    for (const auto& path : shipped_images()) {
      const DecodedImage image = decoder->decode(storage::read_file(path, buffer), path);
      EXPECT_EQ(digest(image), golden.at(path.filename()).at("gray_sha256").get<std::string>()) << path;
    }
  }
}

class PreprocessGoldenTest : public IsaTest {
 protected:
  void expect_golden_tensors(spec::ResizeMethod resize, const std::string& method) {
    const nlohmann::json golden = golden_images();
    const auto decoder = make_decoder(spec::DecoderKind::fast);
    const auto preprocessor = make_preprocessor(resize, kShape, GetParam());
    std::vector<float> tensor(kShape.bytes() / sizeof(float));
    storage::ByteBuffer buffer;
    for (const auto& path : shipped_images()) {
      const DecodedImage image = decoder->decode(storage::read_file(path, buffer), path);
      preprocessor->run(image, false, reinterpret_cast<std::byte*>(tensor.data()));
      for (std::size_t channel = 0; channel < 3; ++channel) {
        expect_golden(unnormalized(tensor, channel), golden.at(path.filename()).at(method), path);
      }
    }
  }
};

TEST_P(PreprocessGoldenTest, BilinearAgreesWithTensorFlow) {
  expect_golden_tensors(spec::ResizeMethod::bilinear, "bilinear");
}

TEST_P(PreprocessGoldenTest, AreaAgreesWithTensorFlow) { expect_golden_tensors(spec::ResizeMethod::area, "area"); }

class ColorGoldenTest : public IsaTest {
 protected:
  static nlohmann::json golden() { return nlohmann::json::parse(std::ifstream(CHEXBENCH_GOLDEN "/color.json")); }
  // Returns the tensor of a picture, as floats.
  std::vector<float> tensor(const std::string& name, spec::DecoderKind kind, int size) {
    const BatchShape shape{.images = 1, .height = size, .width = size, .deliver = Deliver::f32};
    const std::string path = CHEXBENCH_GOLDEN "/color/" + name;
    storage::ByteBuffer buffer;
    const auto decoder = make_decoder(kind, {}, spec::Color::rgb);
    const DecodedImage image = decoder->decode(storage::read_file(path, buffer), path);
    EXPECT_EQ(digest(image), golden().at("images").at(name).at("rgb_sha256").get<std::string>()) << path;
    std::vector<float> values(shape.bytes() / sizeof(float));
    make_preprocessor(spec::ResizeMethod::bilinear, shape, GetParam())
        ->run(image, false, reinterpret_cast<std::byte*>(values.data()));
    return values;
  }
};

TEST_P(ColorGoldenTest, TensorsAgreeWithTorchvision) {
  constexpr double kNear = 2e-5;
  const nlohmann::json file = golden();
  const auto size = file.at("size").get<std::size_t>();
  for (const auto& [name, expected] : file.at("images").items()) {
    for (const auto kind : {spec::DecoderKind::fast, spec::DecoderKind::opencv}) {
      const std::vector<float> values = tensor(name, kind, static_cast<int>(size));
      for (std::size_t channel = 0; channel < 3; ++channel) {
        double sum = 0, squares = 0;
        for (std::size_t i = channel; i < values.size(); i += 3) sum += values[i], squares += values[i] * values[i];
        const auto pixels = static_cast<double>(size * size);
        EXPECT_NEAR(sum / pixels, expected.at("mean")[channel].get<double>(), kNear) << name;
        EXPECT_NEAR(std::sqrt(squares / pixels - sum / pixels * sum / pixels),
                    expected.at("std")[channel].get<double>(), kNear)
            << name;
        for (std::size_t i = 0; i < expected.at("value").size(); ++i) {
          const auto row = expected.at("row_col")[i][0].get<std::size_t>();
          const auto column = expected.at("row_col")[i][1].get<std::size_t>();
          EXPECT_NEAR(values[(row * size + column) * 3 + channel], expected.at("value")[i][channel].get<double>(),
                      kNear)
              << name << " at row " << row << ", column " << column << ", channel " << channel;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ColorGoldenTest, testing::ValuesIn(kIsas), isa_name);
INSTANTIATE_TEST_SUITE_P(Isas, PreprocessGoldenTest, testing::ValuesIn(kIsas), isa_name);

}  // namespace
}  // namespace chexbench::image
