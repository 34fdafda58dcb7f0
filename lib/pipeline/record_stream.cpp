#include "pipeline/record_stream.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "formats/tfrecord.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::pipeline {

void read_image_file(Op& op, Record& record) {
  const dataset::Dataset& dataset = op.context().dataset;
  const double start_s = now_s();
  const auto buffer = std::make_shared<storage::ByteBuffer>(op.resources().file_blocks);
  record.bytes = dataset::read_image(dataset, record.file, *buffer);
  record.bytes_owner = buffer;
  book_part(op.stats(), op.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
  op.stats().bytes_read.add(static_cast<std::int64_t>(record.bytes.size()));
}

void check_record(const Op& op, Record& record) {
  if (!record.unchecked_crc) return;
  const formats::RecordOrigin origin{op.context().dataset.shards.at(record.file), record.offset};
  formats::check_data(record.bytes, origin, *record.unchecked_crc);
  record.unchecked_crc.reset();
}

namespace {

// Returns the error of a local shard that another program changed after the data set was opened, or none. Its records
// alone would not reveal that it was emptied or cut between two of them. Distant stores compare versions themselves.
std::optional<DataError> find_change(const dataset::Dataset& dataset, std::uint32_t file, std::uint64_t bytes_now) {
  if (!dataset.store->is_local() || file >= dataset.shard_bytes.size()) return {};
  if (bytes_now == dataset.shard_bytes[file]) return {};
  return DataError(fmt::format("cannot read {}: it had {} bytes when the data set was opened and has {} now",
                               dataset.shards[file], dataset.shard_bytes[file], bytes_now));
}

}  // namespace

RecordStream::RecordStream(Op& op, FileRef file, const std::stop_token& stop, ImageBytes image_bytes)
    : op_(op), file_(file), image_bytes_(image_bytes) {
  const dataset::Dataset& dataset = op.context().dataset;
  if (spec::reads_shards(dataset.format)) {
    std::unique_ptr<storage::ByteStream> stream = dataset.store->stream(dataset.shards.at(file.file), stop);
    change_ = find_change(dataset, file.file, stream->size());
    shard_ = formats::open_shard(dataset.format, std::move(stream), formats::DataCheck::later);
  } else {
    image_pending_ = true;
  }
}

std::optional<Record> RecordStream::next() {
  if (shard_) return next_from_shard();
  if (!image_pending_) return {};
  image_pending_ = false;
  return image_bytes_ == ImageBytes::now ? next_image() : Record{.file = file_.file};
}

std::optional<Record> RecordStream::next_image() {
  try {
    Record record{.file = file_.file};
    read_image_file(op_, record);
    op_.reading().good();
    return record;
  } catch (const DataError& error) {
    op_.reading().bad(error);
    return {};
  }
}

std::optional<Record> RecordStream::next_from_shard() {
  while (true) {
    const double start_s = now_s();
    try {
      std::optional<formats::ShardRecord> record = shard_->next();
      if (record && op_.context().dataset.store->gives_views()) storage::bring_into_memory(record->data);
      book_part(op_.stats(), op_.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
      if (!record) return at_end_of_shard();
      Record read{.file = file_.file,
                  .offset = record->offset,
                  .bytes = record->data,
                  .bytes_owner = std::move(record->owner),
                  .unchecked_crc = record->unchecked_crc};
      if (!is_wanted(read)) {
        check_record(op_, read);  // it may be left out because its name is damaged
        continue;
      }
      op_.reading().good();
      op_.stats().bytes_read.add(static_cast<std::int64_t>(record->stored_bytes));
      return read;
    } catch (const DataError& error) {
      op_.reading().bad(error);  // if this returns, the reader goes on after the bad record
      change_.reset();
    }
  }
}

// A change that damaged no record is reported as a bad record after the last one.
std::nullopt_t RecordStream::at_end_of_shard() {
  if (const std::optional<DataError> change = std::exchange(change_, std::nullopt)) op_.reading().bad(*change);
  return std::nullopt;
}

// Whether the record's image is in the split. A record that cannot be parsed counts as wanted, so that the op that
// decodes it reports the error.
bool RecordStream::is_wanted(const Record& record) const {
  const dataset::Dataset& dataset = op_.context().dataset;
  if (!dataset.partial) return true;
  try {
    const formats::RecordView view = formats::parse_record(dataset.format, record.bytes, {}, dataset.label_names);
    return dataset::find_image(dataset, view.filename).has_value();
  } catch (const DataError&) {
    return true;
  }
}

bool RecordsOfFiles::next(Element& record) {
  while (true) {
    if (!stream_) {
      if (!files_->next(file_)) return false;
      stream_.emplace(op_, std::get<FileRef>(file_.value), stop_);
    }
    if (std::optional<Record> found = stream_->next()) {
      record.epoch = file_.epoch;
      record.value = std::move(*found);
      return true;
    }
    stream_.reset();
  }
}

double expected_records(const Op& files) {
  const dataset::Dataset& dataset = files.context().dataset;
  if (dataset.files() == 0) return 0;
  return files.expected_elements() * static_cast<double>(dataset.images.size()) / static_cast<double>(dataset.files());
}

}  // namespace chexbench::pipeline
