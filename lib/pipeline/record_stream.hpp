// Reads the records of files: one record for an image file, or the records of a shard in their order.
#pragma once

#include <memory>
#include <optional>

#include "core/errors.hpp"
#include "formats/record.hpp"
#include "pipeline/op.hpp"

namespace chexbench::pipeline {

// The records of one file. Not thread-safe. Books its reads to `op`: bytes, read time and, if the spec says to skip
// them, bad records. `op` must outlive it.
class RecordStream {
 public:
  // later: the op that decodes an image file reads its bytes; now: next() reads them.
  enum class ImageBytes { later, now };
  // Opens the file. After `stop` is requested, a read that waits ends soon.
  // @throws DataError if the file cannot be opened, even if the spec says to skip bad records: a missing shard is not a
  // bad record
  RecordStream(Op& op, FileRef file, const std::stop_token& stop, ImageBytes image_bytes = ImageBytes::later);

  // Returns the next record, or std::nullopt at the end and once stopped. The pages of a mapped shard are in memory
  // then; the op that decodes or keeps it compares the checksum of its data.
  // @throws DataError if a shard is damaged where a record begins or ends, or a local shard has another size than when
  // the data set was opened, and BadStreak::bad() does not allow skipping it
  std::optional<Record> next();

 private:
  std::optional<Record> next_from_shard();
  std::nullopt_t at_end_of_shard();
  std::optional<Record> next_image();
  bool is_wanted(const Record& record) const;

  Op& op_;
  const FileRef file_;
  const ImageBytes image_bytes_;
  std::unique_ptr<formats::ShardReader> shard_;
  std::optional<DataError> change_;  // of the shard since the data set was opened, until it is reported
  bool image_pending_ = false;
};

// Reads the bytes of an image file into `record`, its handle, and books bytes and time to `op`.
// @throws DataError if the file cannot be read
void read_image_file(Op& op, Record& record);

// Compares the checksum of a shard's record, unless that was done already.
// @throws DataError naming shard and offset if it is wrong
void check_record(const Op& op, Record& record);

// The records of all files that `files` delivers, one file after the other. Not thread-safe.
class RecordsOfFiles {
 public:
  RecordsOfFiles(Op& op, std::unique_ptr<Iterator> files, std::stop_token stop)
      : op_(op), stop_(std::move(stop)), files_(std::move(files)) {}

  // Moves the next record into `record`, with its file's epoch. Returns false at the end and once stopped.
  // @throws DataError under the conditions of RecordStream, and any error of `files`
  bool next(Element& record);

 private:
  Op& op_;
  const std::stop_token stop_;
  const std::unique_ptr<Iterator> files_;
  Element file_;
  std::optional<RecordStream> stream_;
};

// Returns how many records the files of one pass of `files` hold if all files are of mean size; for the forecast. May
// be infinite.
double expected_records(const Op& files);

}  // namespace chexbench::pipeline
