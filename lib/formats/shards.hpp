// Names and finds the shards of a root: ROOT/tfrecord/SPLIT-NNNNN-of-NNNNN and ROOT/webdataset/SPLIT-NNNNNN.tar.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/trial_spec.hpp"
#include "storage/data_root.hpp"

namespace chexbench::formats {

// Returns ROOT/FORMAT, the folder of all files of the format.
std::string format_folder(const std::string& root, spec::DataFormat format);
// Returns the path of shard `index` of `count`, counted from 0.
std::string shard_path(const std::string& root, spec::Split split, int index, int count,
                       spec::DataFormat format = spec::DataFormat::tfrecord);
// Returns into how many shards the split was converted or is being converted, or std::nullopt if there are none. The
// names of TFRecord shards hold the count. Those of tar files do not, so the count comes from the file that an
// unfinished conversion leaves, else from the manifest, else from the highest number in a name. Thread-safe.
// @throws DataError if shards of conversions with different counts are mixed, or if the folder cannot be read
std::optional<int> present_shard_count(const storage::DataRoot& root, spec::Split split,
                                       spec::DataFormat format = spec::DataFormat::tfrecord);

// Returns the paths of all shards of a split, in the order of their numbers. Thread-safe.
// @throws DataError naming the command that makes the shards if there are none, some are missing or their conversion
// did not end; also as present_shard_count()
std::vector<std::string> find_shards(const storage::DataRoot& root, spec::Split split,
                                     spec::DataFormat format = spec::DataFormat::tfrecord);

// The parts of a name such as train-00007-of-01024.
struct ShardName {
  std::string prefix;  // "train"
  int index = 0;
  int count = 0;
};
// Returns std::nullopt if that is not the name of a TFRecord shard.
std::optional<ShardName> shard_name_in(std::string_view name);

// Returns the path of the file that is beside the tar files of a split while a conversion into them is under way. It
// holds their count as a decimal number.
std::string unfinished_path(const std::string& root, spec::Split split, spec::DataFormat format);
// Returns the end of an error message: "make them with: chexbench data convert ...".
std::string convert_command(const std::string& root, spec::Split split, spec::DataFormat format);

}  // namespace chexbench::formats
