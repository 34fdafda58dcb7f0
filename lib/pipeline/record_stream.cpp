#include "pipeline/record_stream.hpp"

#include "core/clock.hpp"
#include "core/errors.hpp"

namespace chexbench::pipeline {

RecordStream::RecordStream(Op& op, FileRef file) : op_(op), file_(file) {
  const data::Dataset& dataset = op.context().dataset;
  if (dataset.format == spec::DataFormat::tfrecord) {
    shard_.emplace(data::MappedFile::open(dataset.shards.at(file.file)));
  } else {
    handle_pending_ = true;
  }
}

std::optional<Record> RecordStream::next() {
  if (shard_) return next_from_shard();
  if (!handle_pending_) return {};
  handle_pending_ = false;
  return Record{.file = file_.file};
}

std::optional<Record> RecordStream::next_from_shard() {
  const double start_s = now_s();
  while (true) {
    try {
      const std::optional<data::TfRecord> record = shard_->next();
      book_part(op_.stats(), op_.stats().read, "read", {.begin_s = start_s, .end_s = now_s()});
      if (!record) return {};
      op_.reading().good();
      op_.stats().bytes_read.add(
          static_cast<std::int64_t>(record->data.size() + data::kRecordHeaderBytes + data::kRecordFooterBytes));
      return Record{.file = file_.file, .offset = record->offset, .bytes = record->data, .bytes_owner = shard_->file()};
    } catch (const DataError& error) {
      op_.reading().bad(error);  // the reader goes on behind it
    }
  }
}

bool RecordsOfFiles::next(Element& record) {
  while (true) {
    if (!stream_) {
      if (!files_->next(file_)) return false;
      stream_.emplace(op_, std::get<FileRef>(file_.value));
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
