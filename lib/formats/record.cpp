#include "formats/record.hpp"

#include <utility>

#include "formats/tar_samples.hpp"
#include "formats/tfrecord.hpp"

namespace chexbench::formats {

RecordView parse_record(spec::DataFormat format, std::span<const std::byte> record, const RecordOrigin& origin,
                        std::span<const std::string> label_names) {
  if (format == spec::DataFormat::webdataset) return parse_sample(record, origin, label_names);
  const ExampleView example = parse_example(record, origin, label_names.size());
  return {.encoded = example.encoded,
          .filename = std::string(example.filename),
          .labels = example.labels,
          .patient = example.patient};
}

std::unique_ptr<ShardReader> open_shard(spec::DataFormat format, std::unique_ptr<storage::ByteStream> stream,
                                        DataCheck check) {
  if (format == spec::DataFormat::webdataset) return std::make_unique<TarSampleReader>(std::move(stream));
  return std::make_unique<TfRecordReader>(std::move(stream), check);
}

}  // namespace chexbench::formats
