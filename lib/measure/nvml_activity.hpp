// NVML's GPM metrics (GPU performance monitoring), available since Hopper: how much of the GPU works, while NVML's
// utilization only shows that something runs. Private to this folder; needs nvml.h.
#pragma once

#include <array>
#include <mutex>

#include "measure/nvml.hpp"
#include "measure/nvml_functions.hpp"

namespace chexbench::measure {

// The metrics of one GPU between one call and the next. Thread-safe.
class Activity {
 public:
  // `functions` must outlive this object.
  Activity(const Functions& functions, nvmlDevice_t device);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // Sets the activities since the last call; leaves them empty in the first call, and if the GPU or the driver has no
  // such metrics.
  void add_to(GpuSample& sample) const;

 private:
  bool is_supported() const;

  const Functions& functions_;
  const nvmlDevice_t device_;
  mutable std::mutex mutex_;                         // guards the members below
  mutable std::array<nvmlGpmSample_t, 2> states_{};  // of the hardware's counters: the last one and the one to be taken
  mutable bool has_last_ = false;
};

}  // namespace chexbench::measure
