#include "engine/cuda/program/precision.hpp"

#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

std::string refusal(Precision precision, int compute_capability) {
  try {
    check_precision(precision, compute_capability, "Tesla X");
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST(PrecisionCheck, EveryDeviceHasF32) {
  for (const int capability : {50, 60, 61, 70, 75, 80, 86, 89, 90, 100})
    EXPECT_EQ(refusal(Precision::f32, capability), "");
}

TEST(PrecisionCheck, Fp16BeginsWithVolta) {
  for (const int capability : {50, 60, 61}) EXPECT_NE(refusal(Precision::fp16, capability), "") << capability;
  for (const int capability : {70, 75, 80, 86, 90, 100}) EXPECT_EQ(refusal(Precision::fp16, capability), "");
}

TEST(PrecisionCheck, Tf32AndBf16BeginWithAmpere) {
  for (const Precision precision : {Precision::tf32, Precision::bf16}) {
    for (const int capability : {60, 70, 75}) EXPECT_NE(refusal(precision, capability), "") << capability;
    for (const int capability : {80, 86, 89, 90, 100}) EXPECT_EQ(refusal(precision, capability), "");
  }
}

TEST(PrecisionCheck, ARefusalNamesTheDeviceAndWhatItHas) {
  EXPECT_EQ(refusal(Precision::bf16, 75),
            "engine 'cuda': Tesla X has no bf16: it has compute capability 7.5, bf16 begins with 8.0; use f32 or fp16");
  EXPECT_EQ(refusal(Precision::fp16, 61),
            "engine 'cuda': Tesla X has no fp16: it has compute capability 6.1, fp16 begins with 7.0; use f32");
}

}  // namespace
}  // namespace chexbench::engine::cuda
