// What a record of a shard says, whatever the shard's format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "data/label_bits.hpp"
#include "data/shard_reader.hpp"
#include "data/store/store.hpp"
#include "data/tf_example.hpp"
#include "spec/experiment.hpp"

namespace chexbench::data {

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

std::unique_ptr<ShardReader> open_shard(spec::DataFormat format, std::unique_ptr<ByteStream> stream);

}  // namespace chexbench::data
