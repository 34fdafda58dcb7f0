// How a parallel file system spreads files over its servers, as its own tool says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/file_system.hpp"

namespace chexbench::measure {

// How a file, or a part of it, is spread: `chunk_bytes` on each of `targets` storage targets in turn.
struct Stripe {
  std::optional<int> targets;  // -1: all there are; not set if the tool does not tell
  std::uint64_t chunk_bytes = 0;
  friend bool operator==(const Stripe&, const Stripe&) = default;
};

struct Striping {
  std::string system;           // "Lustre", "GPFS", "BeeGFS"
  std::string tool;             // "lfs getstripe", what was asked
  std::vector<Stripe> stripes;  // of new files of the folder; several where the layout depends on the place in a file
  std::string problem;          // why there are none, a clause
};

// Asks lfs, mmlsfs or beegfs-ctl (of BeeGFS 8: beegfs), which may take `patience_s` each, about the folder `path` on
// `system`. Returns std::nullopt if that is no Lustre, GPFS or BeeGFS. Runs a program for each question. Thread-safe.
std::optional<Striping> find_striping(const FileSystem& system, const std::string& path, double patience_s = 5);

}  // namespace chexbench::measure
