// The records of one file: a PNG's single handle, or those of a shard in their order.
#pragma once

#include <memory>
#include <optional>

#include "formats/record.hpp"
#include "pipeline/op.hpp"

namespace chexbench::pipeline {

// Not thread-safe. Books what it reads to `op`: bytes, read time, and bad records where the spec says to skip them.
class RecordStream {
 public:
  // Whether a PNG's bytes are read here, or by the op that decodes it.
  enum class Png { handle, bytes };
  // Opens the file; a read that waits ends soon after `stop`.
  // @throws DataError where that fails, whatever the spec says: a missing shard is not a bad record
  RecordStream(Op& op, FileRef file, const std::stop_token& stop, Png png = Png::handle);

  // The next record, or nothing at the end. @throws DataError for a damaged one, see BadStreak::bad
  std::optional<Record> next();

 private:
  std::optional<Record> next_from_shard();
  std::optional<Record> next_png();
  bool is_wanted(const formats::ShardRecord& record) const;

  Op& op_;
  const FileRef file_;
  const Png png_;
  std::unique_ptr<formats::ShardReader> shard_;
  bool png_pending_ = false;
};

// Brings a PNG's bytes into its handle, and books that to `op`. @throws DataError where the file cannot be read
void read_png(Op& op, Record& record);

// The records of one file after the other.
class RecordsOfFiles {
 public:
  RecordsOfFiles(Op& op, std::unique_ptr<Iterator> files, std::stop_token stop)
      : op_(op), stop_(std::move(stop)), files_(std::move(files)) {}

  // False at the end or once the files were stopped. @throws DataError as RecordStream
  bool next(Element& record);

 private:
  Op& op_;
  const std::stop_token stop_;
  const std::unique_ptr<Iterator> files_;
  Element file_;
  std::optional<RecordStream> stream_;
};

// Records that the files of one pass of `files` hold, on average; for the forecast.
double expected_records(const Op& files);

}  // namespace chexbench::pipeline
