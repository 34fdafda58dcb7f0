// Asks a distant store for a little, for `chexbench doctor`.
#pragma once

#include <string>

#include "verbs/doctor/doctor_result.hpp"

namespace chexbench::verbs {

// Lists the root twice, and reads up to 64 MiB of its first shard, or else of its first image, as a pipeline would.
// Takes as long as the store does. `root` is an URL. @throws DataError where it cannot be read, or holds no data set
StoreProbe probe_store(const std::string& root);

}  // namespace chexbench::verbs
