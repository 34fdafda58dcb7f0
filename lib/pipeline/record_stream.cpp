#include "pipeline/record_stream.hpp"

#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"

namespace chexbench::pipeline {

RecordStream::RecordStream(Op& op, FileRef file, const std::stop_token& stop, Png png)
    : op_(op), file_(file), png_(png) {
  const data::Dataset& dataset = op.context().dataset;
  if (dataset.format == spec::DataFormat::tfrecord) {
    shard_.emplace(dataset.store->stream(dataset.shards.at(file.file), stop));
  } else {
    png_pending_ = true;
  }
}

std::optional<Record> RecordStream::next() {
  if (shard_) return next_from_shard();
  if (!png_pending_) return {};
  png_pending_ = false;
  return png_ == Png::bytes ? next_png() : Record{.file = file_.file};
}

std::optional<Record> RecordStream::next_png() {
  const data::Dataset& dataset = op_.context().dataset;
  const double start_s = now_s();
  try {
    const auto buffer = std::make_shared<data::ByteBuffer>();
    const auto bytes = dataset.store->read(dataset.images.at(file_.file).path, *buffer);
    book_part(op_.stats(), op_.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
    op_.reading().good();
    op_.stats().bytes_read.add(static_cast<std::int64_t>(bytes.size()));
    return Record{.file = file_.file, .bytes = bytes, .bytes_owner = buffer};
  } catch (const DataError& error) {
    op_.reading().bad(error);
    return {};
  }
}

std::optional<Record> RecordStream::next_from_shard() {
  const double start_s = now_s();
  while (true) {
    try {
      std::optional<data::TfRecord> record = shard_->next();
      book_part(op_.stats(), op_.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
      if (!record) return {};
      op_.reading().good();
      op_.stats().bytes_read.add(
          static_cast<std::int64_t>(record->data.size() + data::kRecordHeaderBytes + data::kRecordFooterBytes));
      return Record{
          .file = file_.file, .offset = record->offset, .bytes = record->data, .bytes_owner = std::move(record->owner)};
    } catch (const DataError& error) {
      op_.reading().bad(error);  // the reader goes on behind it
    }
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
  const data::Dataset& dataset = files.context().dataset;
  if (dataset.files() == 0) return 0;
  return files.expected_elements() * static_cast<double>(dataset.images.size()) / static_cast<double>(dataset.files());
}

}  // namespace chexbench::pipeline
