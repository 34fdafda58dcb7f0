// Where the TFRecord shards of a root lie: ROOT/tfrecord/SPLIT-NNNNN-of-NNNNN.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/store/data_root.hpp"
#include "spec/experiment.hpp"

namespace chexbench::data {

std::string tfrecord_folder(const std::string& root);
// Path of shard `index` of `count`.
std::string shard_path(const std::string& root, spec::Split split, int index, int count);
// Into how many shards the split was converted, by the names that are there; nothing where there is none.
// @throws DataError where shards of two conversions with different counts are mixed, or the folder cannot be read
std::optional<int> present_shard_count(const DataRoot& root, spec::Split split);

// The paths of all shards of a split, in their order.
// @throws DataError where there are none or some are missing, with the command that makes them; as above
std::vector<std::string> find_shards(const DataRoot& root, spec::Split split);

}  // namespace chexbench::data
