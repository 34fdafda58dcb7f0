// Names and finds the shards of a root: ROOT/tfrecord/SPLIT-NNNNN-of-NNNNN and ROOT/webdataset/SPLIT-NNNNNN.tar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
// names of TFRecord shards contain the count. Those of tar files do not, so the count comes from the file that an
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

// Returns the path of the file that is next to the tar files of a split while a conversion is writing them. It contains
// their count as a decimal number.
std::string unfinished_path(const std::string& root, spec::Split split, spec::DataFormat format);
// Returns the end of an error message: "make them with: chexbench data convert ...".
std::string convert_command(const std::string& root, spec::Split split, spec::DataFormat format);

// The interface for reading the records of one shard of any format.

// Where a record came from. Only error messages use it.
struct RecordOrigin {
  std::string_view file = "tf.Example";
  std::uint64_t offset = 0;  // of the record in the file, in bytes
};

// Who compares the checksum of a record's data, if the format has one.
enum class DataCheck {
  in_next,  // ShardReader::next()
  later     // the user of the record, with check_data(): it needs the data in its core's cache anyway
};

// One record. `data` is a view of the mapped file if the shard is mapped and not compressed; it is valid as long as
// `owner` is held.
struct ShardRecord {
  std::span<const std::byte> data;
  std::uint64_t offset = 0;        // of the record's first byte in the shard; in the inflated bytes if it is compressed
  std::uint64_t stored_bytes = 0;  // how many bytes of the shard were read for the record
  std::shared_ptr<const void> owner;
  std::optional<std::uint32_t> unchecked_crc;  // for check_data(); none if there is nothing left to check
};

// Not thread-safe.
class ShardReader {
 public:
  virtual ~ShardReader() = default;
  // Returns the next record, or std::nullopt at the end of the shard or once the stream was stopped.
  // @throws DataError naming file, offset and reason if the shard is damaged or cannot be read. next() may be called
  // again: it returns the record after the damaged one if its position is still known, else std::nullopt.
  virtual std::optional<ShardRecord> next() = 0;
};

}  // namespace chexbench::formats
