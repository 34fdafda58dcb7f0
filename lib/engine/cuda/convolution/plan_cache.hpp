// Keeps timings of convolution plans in a file from run to run, one readable line each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "engine/cuda/convolution/conv_pattern.hpp"

namespace chexbench::engine::cuda {

// The conditions of a timing besides the request.
struct PlanMachine {
  std::string device;              // "NVIDIA H200"
  std::string compute_capability;  // "9.0"
  std::int64_t cudnn_version = 0;
  std::int64_t cuda_runtime_version = 0;
};

// Returns the key of a timing, readable and on one line without tabs: device, compute capability, cuDNN, CUDA,
// pattern, shape with strides, precision, determinism and workspace limit.
std::string plan_key(const PlanMachine& machine, const PlanRequest& request);

// The fastest plan of a request, and its time.
struct CachedPlan {
  std::string engine;  // Plan::engine
  std::int64_t workspace_bytes = 0;
  double seconds = 0;  // of one run

  friend bool operator==(const CachedPlan&, const CachedPlan&) = default;
};

// A map from keys to plans that is kept in a file. Several processes may use the same file. Not thread-safe.
class PlanCache {
 public:
  // Reads `file`, which need not exist; with an empty name, nothing is saved. A file of another version counts as
  // empty, and a damaged line as absent. If the file cannot be read, this logs a warning and never writes the file.
  explicit PlanCache(std::string file = "");

  // Returns nullptr if the key is unknown. The pointer is valid until the next add() or save().
  const CachedPlan* find(const std::string& key) const;
  // Adds or replaces a plan. save() writes it.
  void add(const std::string& key, const CachedPlan& plan);

  // Writes the added plans into the file, and keeps entries that other processes have added since it was read. If that
  // fails, this logs a warning and the object stops writing.
  void save();

 private:
  std::string file_;
  std::map<std::string, CachedPlan> known_;
  std::map<std::string, CachedPlan> added_;  // since the last save()
};

// Returns the value of an environment variable, or null if it is not set: std::getenv, or a test's function.
using Environment = std::function<const char*(const char*)>;

// Returns the file that is used if none is named: in $XDG_CACHE_HOME/chexbench or ~/.cache/chexbench. Returns an empty
// string if neither variable is an absolute path.
std::string default_plan_cache_file(const Environment& environment);

}  // namespace chexbench::engine::cuda
