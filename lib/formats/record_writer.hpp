// Writes the records of a shard, whatever its format.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/output_file.hpp"
#include "formats/tf_example.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::formats {

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
