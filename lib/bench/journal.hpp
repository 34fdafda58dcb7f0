// The journal of a run: one line a finished repeat, on disk before the next one begins, so that a killed sweep goes
// on where it stopped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "results/record.hpp"

namespace chexbench::bench {

// Begins the journal of a new run, as the one process that may. False where there is one. @throws OutputError
bool create_journal(const std::string& path);

// Takes back what create_journal() made, if nothing was written since.
void remove_empty_journal(const std::string& path);

// Repeats by their trial's key and their number.
using RepeatKeys = std::set<std::pair<std::string, int>>;
// Those that the journal holds. @throws OutputError as Journal does
RepeatKeys read_repeat_keys(const std::string& journal_path);
// Those that a report holds.
RepeatKeys repeat_keys(const results::Report& report);

// Whether the run in `folder` is one of `planned`, whose results it would then replace.
// @throws SpecError where the folder's report is of another experiment, or `journalled` of none of its trials
void check_resumable(const results::Report& planned, const std::string& folder, const RepeatKeys& journalled);

// journal.jsonl in an output folder. Used by rank 0 alone; not thread-safe.
class Journal {
 public:
  // Reads what is there, and keeps other processes from writing while it lives. A torn last line (the run was killed
  // while writing it) is dropped, and so are files that a killed run left half-written beside it.
  // @throws OutputError where the file cannot be read or written, is another process's, or is damaged elsewhere than
  // at its end
  explicit Journal(const std::string& path);

  // The repeat `repeat` of the trial with this key, if it was measured before.
  const results::RepeatResult* find(const std::string& key, int repeat) const;
  // Appends a repeat and flushes it to disk. @throws OutputError
  void append(const std::string& key, const results::RepeatResult& result);

 private:
  // Open for reading and writing.
  struct File {
    explicit File(const std::string& path);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    const int descriptor;
  };

  std::string path_;
  File file_;
  std::map<std::pair<std::string, int>, results::RepeatResult> measured_;
};

}  // namespace chexbench::bench
