// Where the shards of a root lie: ROOT/tfrecord/SPLIT-NNNNN-of-NNNNN and ROOT/webdataset/SPLIT-NNNNNN.tar.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/experiment.hpp"
#include "storage/data_root.hpp"

namespace chexbench::formats {

// ROOT/FORMAT
std::string format_folder(const std::string& root, spec::DataFormat format);
// Path of shard `index` of `count`.
std::string shard_path(const std::string& root, spec::Split split, int index, int count,
                       spec::DataFormat format = spec::DataFormat::tfrecord);
// Into how many shards the split was converted, or is being converted: by the names that are there; names of tar files
// do not tell, so their manifest does, else what a conversion that did not end left behind, else the highest number.
// Nothing where there is none.
// @throws DataError where shards of two conversions with different counts are mixed, or the folder cannot be read
std::optional<int> present_shard_count(const storage::DataRoot& root, spec::Split split,
                                       spec::DataFormat format = spec::DataFormat::tfrecord);

// The paths of all shards of a split, in their order.
// @throws DataError where there are none or some are missing, with the command that makes them; as above
std::vector<std::string> find_shards(const storage::DataRoot& root, spec::Split split,
                                     spec::DataFormat format = spec::DataFormat::tfrecord);

// The file that stands beside tar files while a conversion into them is under way; it holds their count.
std::string unfinished_path(const std::string& root, spec::Split split, spec::DataFormat format);
// "make it with: chexbench data convert ..."
std::string convert_command(const std::string& root, spec::Split split, spec::DataFormat format);

}  // namespace chexbench::formats
