// What a record of a shard says, whatever the shard's format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/label_bits.hpp"
#include "formats/shard_reader.hpp"
#include "formats/tf_example.hpp"
#include "spec/experiment.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {

// `encoded` is a view of the record.
struct RecordView {
  std::span<const std::byte> encoded;
  std::string filename;
  LabelBits labels;
  std::optional<std::int64_t> patient;  // where it tells
};

// `format`: one that reads_shards(); `label_names`: as Dataset::label_names. Thread-safe.
// @throws DataError as parse_example() and parse_sample()
RecordView parse_record(spec::DataFormat format, std::span<const std::byte> record, const RecordOrigin& origin,
                        std::span<const std::string> label_names);

std::unique_ptr<ShardReader> open_shard(spec::DataFormat format, std::unique_ptr<storage::ByteStream> stream);

}  // namespace chexbench::formats
