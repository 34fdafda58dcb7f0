#include "engine/onednn/network.hpp"

#include <gtest/gtest.h>

namespace chexbench::engine::onednn {
namespace {

class UploadTest : public testing::Test {
 protected:
  UploadTest() {
    planner_.use(input_);
    planner_.place();
  }
  BatchLease batch(Deliver deliver) {
    return BatchPool::create({.images = 2, .height = 4, .width = 3, .deliver = deliver}, 1, host_allocator())
        ->acquire({});
  }
  const float* values() const { return reinterpret_cast<const float*>(input_.data); }

  Device device_ = make_device(spec::Precision::f32);
  Planner planner_{device_};
  Tensor& input_ = planner_.tensor({2, 3, 4, 3}, Layout::nchw, FloatType::f32);
};

TEST_F(UploadTest, TurnsPixelsIntoPlanes) {
  BatchLease lease = batch(Deliver::f32);
  for (std::size_t i = 0; i < lease->f32().size(); ++i) lease->f32()[i] = static_cast<float>(i);
  upload(*lease, input_);
  EXPECT_EQ(values()[0], 0.0f);
  EXPECT_EQ(values()[1], 3.0f);              // next pixel, same channel
  EXPECT_EQ(values()[12], 1.0f);             // next channel
  EXPECT_EQ(values()[36 + 24 + 11], 71.0f);  // last pixel of the last channel of the second image
}

TEST_F(UploadTest, NormalizesGrayByImageNetsMeanAndDeviation) {
  BatchLease lease = batch(Deliver::u8);
  for (std::size_t i = 0; i < 24; ++i) lease->images[i] = static_cast<std::byte>(10 * i);
  upload(*lease, input_);
  EXPECT_EQ(values()[7], (70.0f / 255.0f - 0.485f) / 0.229f);
  EXPECT_EQ(values()[12 + 7], (70.0f / 255.0f - 0.456f) / 0.224f);
  EXPECT_EQ(values()[36 + 24 + 2], (140.0f / 255.0f - 0.406f) / 0.225f);
}

TEST_F(UploadTest, NormalizesEachColorByItsOwnMeanAndDeviation) {
  BatchLease lease = batch(Deliver::u8_rgb);
  for (std::size_t i = 0; i < 72; ++i) lease->images[i] = static_cast<std::byte>(3 * i);
  upload(*lease, input_);
  EXPECT_EQ(values()[7], (63.0f / 255.0f - 0.485f) / 0.229f);             // byte 3 * 7
  EXPECT_EQ(values()[12 + 7], (66.0f / 255.0f - 0.456f) / 0.224f);        // byte 3 * 7 + 1
  EXPECT_EQ(values()[36 + 24 + 2], (132.0f / 255.0f - 0.406f) / 0.225f);  // byte 36 + 3 * 2 + 2
  input_.layout = Layout::channels_last;
  upload(*lease, input_);
  EXPECT_EQ(values()[22], (66.0f / 255.0f - 0.456f) / 0.224f);
}

TEST_F(UploadTest, KeepsThePixelsTogetherInChannelsLast) {
  input_.layout = Layout::channels_last;
  BatchLease lease = batch(Deliver::u8);
  for (std::size_t i = 0; i < 24; ++i) lease->images[i] = static_cast<std::byte>(10 * i);
  upload(*lease, input_);
  EXPECT_EQ(values()[3 * 7], (70.0f / 255.0f - 0.485f) / 0.229f);
  EXPECT_EQ(values()[3 * 7 + 1], (70.0f / 255.0f - 0.456f) / 0.224f);
  EXPECT_EQ(values()[36 + 3 * 2 + 2], (140.0f / 255.0f - 0.406f) / 0.225f);
}

}  // namespace
}  // namespace chexbench::engine::onednn
