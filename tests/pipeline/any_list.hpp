// Draws random op lists that the model of model.hpp covers.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {

// Draws finite lists with a fixed order of elements, in which each op accepts the kind of element that the op before
// it gives. Must be used within a property.
class AnyList {
 public:
  // The path of a cache in a file is `cache_path` followed by a number.
  explicit AnyList(std::string cache_path) : cache_path_(std::move(cache_path)) {}

  spec::PipelineSpec draw() {
    add("list_files");
    keep();
    if (one_in(4)) {
      add("worker_batches", {{"num_workers", any(1, 3)}, {"prefetch_factor", any(1, 2)}});
    } else {
      draw_from_records();
    }
    in_batches_ = true;
    keep();
    return list(std::move(ops_));
  }

 private:
  static std::int64_t any(std::int64_t least, std::int64_t most) {
    return *rc::gen::inRange<std::int64_t>(least, most + 1);
  }
  static bool one_in(int n) { return *rc::gen::inRange(0, n) == n - 1; }
  bool has(const std::string& name) const { return count(name) > 0; }
  std::ptrdiff_t count(const std::string& name) const { return std::ranges::count(ops_, name, &spec::OpSpec::op); }
  void add(const std::string& name, const Parameters& parameters = {}) { ops_.push_back(op(name, parameters)); }

  void draw_from_records() {
    if (one_in(2)) {
      add("interleave", {{"cycle_length", any(1, 4)}, {"block_length", any(1, 3)}, {"parallel", one_in(2)}});
    } else {
      add("read");
    }
    keep();
    if (one_in(2)) {
      add("map_and_batch", {{"parallel_batches", any(1, 3)}, {"drop_remainder", one_in(2)}});
    } else {
      add("map", {{"parallel_calls", any(1, 4)}});
      keep();
      add("batch", {{"drop_remainder", one_in(2)}});
    }
  }

  // Adds up to two ops that do not change the kind of element.
  void keep() {
    for (std::int64_t left = any(0, 2); left > 0; --left) {
      const auto name = *rc::gen::element<std::string>("shard", "shuffle", "repeat", "prefetch", "cache", "take");
      if (name == "shard" && !has("shard")) add(name);
      if (name == "shuffle") add(name, {{"buffer", any_shuffle_buffer()}});
      if (name == "repeat" && count("repeat") < 2) add(name, {{"epochs", any(1, 3)}});
      if (name == "prefetch") add(name, {{"buffer", any_prefetch_buffer()}});
      if (name == "cache") add(name, {{"to", one_in(2) ? "memory" : cache_path_ + std::to_string(ops_.size())}});
      // A cache is complete only when an epoch was read to its end, which a take after it may prevent.
      if (name == "take" && !has("cache")) add(name, {{"count", any(1, 12)}});
    }
  }
  spec::ParameterValue any_shuffle_buffer() const {
    if (!in_batches_ && one_in(4)) return "all";
    return any(1, 20);
  }
  static spec::ParameterValue any_prefetch_buffer() {
    if (one_in(3)) return "auto";
    if (one_in(3)) return "batch";
    return any(1, 4);
  }

  const std::string cache_path_;
  std::vector<spec::OpSpec> ops_;
  bool in_batches_ = false;
};

}  // namespace chexbench::pipeline::test
