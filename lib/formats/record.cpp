#include "formats/record.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_text.hpp"
#include "formats/tar.hpp"
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

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class TfRecordWriter final : public RecordWriter {
 public:
  void write(const ExampleFields& fields, std::span<const std::byte> encoded, OutputFile& file) override {
    write_example(fields, encoded, record_);
    const TfRecordFrame frame = frame_record(record_);
    file.write(frame.header);
    file.write(record_);
    file.write(frame.footer);
  }
  void finish(OutputFile&) override {}

 private:
  std::vector<std::byte> record_;
};

// Writes each sample as two members: its labels (.json), then its image.
class SampleWriter final : public RecordWriter {
 public:
  void write(const ExampleFields& fields, std::span<const std::byte> encoded, OutputFile& file) override {
    const bool named_png = fields.filename.ends_with(kPng);
    const bool is_png = fields.format == "png" || (fields.format != "jpeg" && named_png);
    const std::string key =
        key_of(named_png ? fields.filename.substr(0, fields.filename.size() - kPng.size()) : fields.filename);
    const std::pair json{key + ".json", bytes_of(json_ = labels_json(fields))};
    const std::pair image{key + (is_png ? ".png" : ".jpg"), encoded};
    const std::array members{json, image};
    for (const auto& [name, contents] : members) {
      file.write(bytes_of(tar_header(name, contents.size())));
      file.write(contents);
      file.write(std::span(zeros_).first(tar_padding(contents.size())));
    }
  }
  void finish(OutputFile& file) override { file.write(zeros_); }

 private:
  static constexpr std::string_view kPng = ".png";

  // Readers end a key at the first dot of the file's name and skip names that begin with "__". So dots, leading
  // underscores and '%' are written as in a URL.
  static std::string key_of(std::string_view name) {
    std::string key;
    if (name.starts_with("__")) {
      key = "%5F";
      name.remove_prefix(1);
    }
    for (const char c : name) key += c == '.' ? "%2E" : c == '%' ? "%25" : std::string(1, c);
    return key;
  }

  static std::string labels_json(const ExampleFields& fields) {
    std::string label;
    for (std::size_t f = 0; f < fields.label_count; ++f) {
      label += fmt::format("{}{}", f == 0 ? "" : ", ", fields.labels.has(f) ? 1 : 0);
    }
    return fmt::format("{{\"filename\": {}, \"label\": [{}], \"patient\": {}}}\n", json_text(fields.filename), label,
                       fields.patient);
  }

  const std::array<std::byte, kTarEndBytes> zeros_{};
  std::string json_;
};

}  // namespace

std::unique_ptr<RecordWriter> make_record_writer(spec::DataFormat format) {
  if (format == spec::DataFormat::webdataset) return std::make_unique<SampleWriter>();
  return std::make_unique<TfRecordWriter>();
}

}  // namespace chexbench::formats
