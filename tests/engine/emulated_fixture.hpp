// Helpers for the tests of the emulated engine: profiles of a device that is fast enough for a test to wait for it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "engine/engine.hpp"

namespace chexbench::engine {

// A profile file in a folder of the test, which is removed with this object.
class ProfileFile {
 public:
  // The profile has one entry, for the model at 32x32 f32 and batch 4. `entry_keys` are its other keys:
  // `"images_per_s": 2000, ...`.
  explicit ProfileFile(const std::string& entry_keys, const std::string& model = "resnet50")
      : folder_(std::filesystem::path(testing::TempDir()) / ("chexbench_profile_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << R"({"name": "test", "device": "a device for tests", "entries": [
        {"model": ")" << model
                          << R"(", "image_size": 32, "precision": "f32", "batch_size": 4, "source": "made up", )"
                          << entry_keys << "}]}";
  }
  ~ProfileFile() { std::filesystem::remove_all(folder_); }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;

  std::string path() const { return (folder_ / "test.json").string(); }
  std::string engine_name() const { return "emulated:" + path(); }

 private:
  std::filesystem::path folder_;
};

// Returns a spec that ProfileFile has a time for.
inline EngineConfig small_config(int batch_size = 4) {
  EngineConfig config;
  config.model.image_size = 32;
  config.training.batch_size = batch_size;
  return config;
}

// Provides full batches from a pool of `capacity` batches.
class BatchSource {
 public:
  explicit BatchSource(int images = 4, std::size_t capacity = 8)
      : pool_(BatchPool::create({.images = images, .height = 32, .width = 32}, capacity, host_allocator())) {}
  BatchLease next(int valid = 4) {
    BatchLease batch = pool_->acquire(std::stop_token{});
    batch->valid = valid;
    return batch;
  }

 private:
  std::shared_ptr<BatchPool> pool_;
};

// A reducer that records its requests. It claims to average over `world` ranks.
class RecordingReducer final : public Reducer {
 public:
  explicit RecordingReducer(int world) : world_(world) {}
  void reduce(BucketSpan bucket, ReadyEvent) override { counts.push_back(bucket.count); }
  void wait() override { ++waits; }
  void meet() override { ++meetings; }
  ReducerTimings timings() const override { return {.busy_s = 0.25}; }
  int world() const override { return world_; }

  std::vector<std::size_t> counts;
  int waits = 0;
  int meetings = 0;

 private:
  int world_;
};

}  // namespace chexbench::engine
