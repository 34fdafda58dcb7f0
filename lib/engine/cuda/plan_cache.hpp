// Timings of convolution plans, kept in a file from run to run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "engine/cuda/plan_request.hpp"

namespace chexbench::engine::cuda {

// What a timing holds for, besides the request.
struct PlanMachine {
  std::string device;              // "NVIDIA H200"
  std::string compute_capability;  // "9.0"
  std::int64_t cudnn_version = 0;
  std::int64_t cuda_runtime_version = 0;
};

// Every part of both, readable and on one line.
std::string plan_key(const PlanMachine& machine, const PlanRequest& request);

// The fastest plan of a request.
struct CachedPlan {
  std::string engine;  // Plan::engine
  std::int64_t workspace_bytes = 0;
  double seconds = 0;  // of one run

  friend bool operator==(const CachedPlan&, const CachedPlan&) = default;
};

// Processes may share the file. Not thread-safe.
class PlanCache {
 public:
  // Reads `file`, which need not exist; empty: nothing is kept. A file of another version counts as empty, a damaged
  // line as absent; one that cannot be read is a warning, and is not written either.
  explicit PlanCache(std::string file = "");

  // nullptr where the key is unknown; valid until the next add() or save().
  const CachedPlan* find(const std::string& key) const;
  void add(const std::string& key, const CachedPlan& plan);

  // Puts what was added into the file, beside what others have put there since it was read. Where that fails, one
  // warning.
  void save();

 private:
  std::string file_;
  std::map<std::string, CachedPlan> known_;
  std::map<std::string, CachedPlan> added_;  // since the last save()
};

// Looks up an environment variable; null where it is not set. std::getenv, or a test's.
using Environment = std::function<const char*(const char*)>;

// Where the file lies unless one is named: in $XDG_CACHE_HOME/chexbench or ~/.cache/chexbench; empty where neither
// is known.
std::string default_plan_cache_file(const Environment& environment);

}  // namespace chexbench::engine::cuda
