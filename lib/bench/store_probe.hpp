// Asks a distant store for a little, for `chexbench doctor`.
#pragma once

#include <string>

#include "report/doctor.hpp"

namespace chexbench::bench {

// Lists the root twice, and reads up to 64 MiB of its first shard, or else of its first image, as a pipeline would.
// Takes as long as the store does. `root` is an URL. @throws DataError where it cannot be read, or holds no data set
report::StoreProbe probe_store(const std::string& root);

}  // namespace chexbench::bench
