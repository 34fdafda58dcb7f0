// Small batches and steps for tests of the GPU engine.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/errors.hpp"
#include "engine/cuda/kernels/upload.hpp"
#include "engine/cuda/training/trainer.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::cuda {

inline constexpr int kSize = 32;
inline constexpr int kImages = 4;

inline constexpr kernels::Normalization kImageNetNorm{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

// AlexNet reduces smaller images to nothing.
inline int size_of(const std::string& model) { return model == "alexnet" ? 2 * kSize : kSize; }

inline EngineConfig config_of(const std::string& model, spec::Precision precision = spec::Precision::f32) {
  EngineConfig config;
  config.model.name = model;
  config.model.image_size = size_of(model);
  config.training.batch_size = kImages;
  config.training.precision = precision;
  config.training.learning_rate = 1e-3;
  config.training.deterministic = true;  // or equal runs would differ in the last bits on a device
  config.deliver = Deliver::u8;
  return config;
}

// Returns images of noise; the same number gives the same images, of colors both as bytes and as floats.
inline BatchLease batch_of(int number, Deliver deliver = Deliver::u8, int size = kSize) {
  const auto pool =
      BatchPool::create({.images = kImages, .height = size, .width = size, .deliver = deliver}, 1, host_allocator());
  BatchLease batch = pool->acquire({});
  std::vector<float> noise(batch->shape.bytes() / batch->shape.element_bytes());
  model::fill_formula_signed("twin", std::to_string(number), noise);
  model::fill_formula_labels("twin", std::to_string(number), batch->labels);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(127.0f + 127.0f * noise[i]);
    if (deliver == Deliver::f32) {
      batch->f32()[i] = kernels::normalized(byte, kImageNetNorm, static_cast<int>(i % 3));
    } else {
      batch->images[i] = std::byte{byte};
    }
  }
  batch->valid = kImages;
  return batch;
}

// Returns the loss of each of `steps` steps; step i runs on batch i.
inline std::vector<double> losses(CudaEngine& engine, Reducer& reducer, int steps, int size = kSize) {
  std::vector<double> result;
  std::int64_t seen = engine.steps_finished();
  const auto look = [&] {
    if (engine.steps_finished() > seen) result.push_back(engine.timings().loss);
    seen = engine.steps_finished();
  };
  for (int i = 0; i < steps; ++i) {
    engine.step(batch_of(i, Deliver::u8, size), reducer);
    look();
  }
  engine.finish();
  look();
  return result;
}

// A reducer for one rank that may be captured.
class SingleReducer final : public Reducer {
 public:
  void reduce(BucketSpan, ReadyEvent) override {}
  void wait() override {}
  bool capturable() const override { return true; }
  ReducerTimings timings() const override { return {}; }
  int world() const override { return 1; }
};

// Returns why no GPU can be used here, or an empty string if one can.
inline std::string device_problem() {
  try {
    require_device();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

class OnADevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string problem = device_problem(); !problem.empty()) GTEST_SKIP() << problem;
  }
  SingleReducer single_;
};

}  // namespace chexbench::engine::cuda
