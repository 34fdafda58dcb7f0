// Measures how a store on a server answers, for `chexbench doctor`.
#pragma once

#include <string>

#include "verbs/doctor/doctor_result.hpp"

namespace chexbench::verbs {

// Lists the root, a URL, twice, and reads up to 64 MiB of its first shard, or of its first image if there is no shard,
// as a pipeline would. Takes as long as the store does.
// @throws DataError if the store cannot be read or contains no data set
StoreProbe probe_store(const std::string& root);

}  // namespace chexbench::verbs
