// Writing the records of a shard, whatever its format.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/output_file.hpp"
#include "formats/tf_example.hpp"
#include "spec/experiment.hpp"

namespace chexbench::formats {

// Equal input gives equal bytes. Keeps its memory from record to record, so: one a thread.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  // Adds a record for the image file `encoded`. @throws OutputError
  virtual void write(const ExampleFields& fields, std::span<const std::byte> encoded, OutputFile& file) = 0;
  // Behind the last record. @throws OutputError
  virtual void finish(OutputFile& file) = 0;
};

// `format`: one that reads_shards().
std::unique_ptr<RecordWriter> make_record_writer(spec::DataFormat format);

}  // namespace chexbench::formats
