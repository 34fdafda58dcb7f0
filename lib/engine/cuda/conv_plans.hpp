// cuDNN's plans for one pattern on one shape. Planning needs no device: a description of one is enough.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/cuda/conv_pattern.hpp"

namespace chexbench::engine::cuda {

// The device that plans are made for.
class PlanTarget {
 public:
  // A JSON object as cuDNN's device properties serialize to. @throws DeviceError where cuDNN refuses it
  static PlanTarget from_description(const std::string& json);

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

struct PlanRequest {
  ConvPattern pattern = ConvPattern::forward;
  ConvShape shape;
  spec::Precision precision = spec::Precision::f32;
  std::int64_t workspace_limit_bytes = std::int64_t{1} << 30;
  bool deterministic = false;
};

enum class PlanState {
  ready,         // can run
  needs_driver,  // compiled at run time for the device, which only a driver can load
  refused,
};

struct Plan {
  PlanState state = PlanState::refused;
  std::string engine;  // cuDNN's engine and its knobs: "eng2_k2=4_k25=1"
  std::int64_t workspace_bytes = 0;
  std::string reason;  // where it is not ready
};

// The candidates of one request, best guess first. Not thread-safe.
class ConvPlans {
 public:
  // @throws DeviceError, naming pattern and shape, where cuDNN offers nothing
  ConvPlans(const PlanTarget& target, const PlanRequest& request);
  ~ConvPlans();
  ConvPlans(ConvPlans&&) noexcept;

  int candidates() const;
  // Finalizes candidate `index`: milliseconds where it is precompiled, half a second or more where not.
  Plan build(int index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chexbench::engine::cuda
