// Limits how many bad records in a row an op may skip.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "core/errors.hpp"

namespace chexbench::pipeline {

class Op;
struct PipelineContext;

// For messages: "40 images of split 'train' of /data/nih".
std::string images_of_split(const PipelineContext& context);
// For messages about bad records: the command that lists them.
std::string bad_records_hint(const PipelineContext& context);

// Counts how many records in a row were bad in one stage (reading or decoding) of an op. Without this limit, an op that
// skips every record would work forever if an endless repeat follows it. Thread-safe.
class BadStreak {
 public:
  explicit BadStreak(Op& op) : op_(op) {}

  // Reports that a record was good, which ends the streak.
  void good() { in_a_row_.store(0, std::memory_order_relaxed); }
  // Reports that a record was bad for the reason in `error`. If the spec says to skip bad records, counts it and
  // returns.
  // @throws DataError if the spec says to stop (then it is `error`), or if the streak is as long as two epochs: if even
  // one record is good, fewer than two epochs of bad records lie between its uses, even if the order changes
  void bad(const DataError& error);

 private:
  Op& op_;
  std::atomic<std::size_t> in_a_row_ = 0;
};

}  // namespace chexbench::pipeline
