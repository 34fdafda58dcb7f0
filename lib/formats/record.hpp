// Opens shards of any format and reads their records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/batch.hpp"
#include "core/output_file.hpp"
#include "formats/shards.hpp"
#include "formats/tf_example.hpp"
#include "spec/trial_spec.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {

// A record's image and metadata.
struct RecordView {
  std::span<const std::byte> encoded;  // the bytes of the image file: a view into the record, valid as long as that
  std::string filename;                // the image's name in the data set
  LabelBits labels;
  std::optional<std::int64_t> patient;  // std::nullopt if the record has none
};

// Parses one record of a shard without copying the image. spec::reads_shards(format) must be true. `label_names` are
// those of the data set, in the order of Dataset::label_names. Thread-safe.
// @throws DataError naming the origin and the reason, as parse_example() and parse_sample() do
RecordView parse_record(spec::DataFormat format, std::span<const std::byte> record, const RecordOrigin& origin,
                        std::span<const std::string> label_names);

// Returns a reader of the records in `stream`, which is a whole shard. spec::reads_shards(format) must be true. Nothing
// is read before the first next(), so damage shows only there. The stream's store must outlive the reader.
std::unique_ptr<ShardReader> open_shard(spec::DataFormat format, std::unique_ptr<storage::ByteStream> stream,
                                        DataCheck check = DataCheck::in_next);

// Writes the records of a shard of any format.
// Equal input gives equal bytes. A writer keeps its memory from record to record, so it is not thread-safe: use one per
// thread.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  // Appends to `file` a record for the image whose file has the bytes `encoded`. The bytes are stored unchanged.
  // @throws OutputError if the file cannot be written
  virtual void write(const ExampleFields& fields, std::span<const std::byte> encoded, OutputFile& file) = 0;
  // Ends the shard after its last record; the caller commits the file.
  // @throws OutputError if the file cannot be written
  virtual void finish(OutputFile& file) = 0;
};

// Returns a writer for the format, for which spec::reads_shards(format) must be true.
std::unique_ptr<RecordWriter> make_record_writer(spec::DataFormat format);

}  // namespace chexbench::formats
