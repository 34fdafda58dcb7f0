// The journal of a run: one line per finished repeat, on disk before the next repeat begins, so that a killed sweep can
// continue where it stopped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "results/record.hpp"

namespace chexbench::bench {

// Creates the empty journal of a new run. Returns false if the file already exists; only one of several processes gets
// true.
// @throws OutputError if the file cannot be created
bool create_journal(const std::string& path);

// Removes the file made by create_journal() if it is still empty, and returns whether it did.
bool remove_empty_journal(const std::string& path);

// Identifies repeats by the key of their trial and their number, from 0.
using RepeatKeys = std::set<std::pair<std::string, int>>;
// Returns the repeats that the journal contains; none if there is no such file.
// @throws OutputError if the journal is damaged, except for a torn last line
RepeatKeys read_repeat_keys(const std::string& journal_path);
// Returns the repeats that the report contains.
RepeatKeys repeat_keys(const results::Report& report);

// Checks that the run in `folder` is a run of `planned`, because resuming replaces the results in the folder.
// `journalled` are the repeats in its journal, and `difference` describes how its spec differs, or is empty.
// @throws SpecError if the folder's report is of another experiment, or none of the `journalled` repeats belongs to a
// trial of `planned`
// @throws DataError if the folder's report.json is not a report
void check_resumable(const results::Report& planned, const std::string& folder, const RepeatKeys& journalled,
                     const std::string& difference = "");

// The file journal.jsonl in an output folder. Only rank 0 has one. Not thread-safe.
class Journal {
 public:
  // Opens the file, or creates it, and reads its repeats. While the object exists, other processes cannot write to the
  // file (except on file systems without locks). Drops a torn last line, left by a killed run, and removes half-written
  // files of a killed run in the same folder.
  // @throws OutputError if the file cannot be read or written, is in use by another process, or is damaged before its
  // end
  explicit Journal(const std::string& path);

  // Returns repeat `repeat` of the trial with this key, as of the opening of the journal; null if it was not in it. The
  // Journal owns the result.
  const results::RepeatResult* find(const std::string& key, int repeat) const;
  // Appends a repeat and flushes it to disk.
  // @throws OutputError if it cannot be written
  void append(const std::string& key, const results::RepeatResult& result);

 private:
  // The open and locked file.
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
