// The journal of a run: one line a finished repeat, on disk before the next one begins, so that a killed sweep goes
// on where it stopped.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "report/record.hpp"

namespace chexbench::bench {

// journal.jsonl in an output folder. Used by rank 0 alone; not thread-safe.
class Journal {
 public:
  // Reads what is there. A torn last line (the run was killed while writing it) is dropped.
  // @throws OutputError where the file cannot be read or written, or is damaged elsewhere than at its end
  explicit Journal(const std::string& path);

  // The repeat `repeat` of the trial with this key, if it was measured before.
  const report::RepeatResult* find(const std::string& key, int repeat) const;
  // Appends a repeat and flushes it to disk. @throws OutputError
  void append(const std::string& key, const report::RepeatResult& result);

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
  std::map<std::pair<std::string, int>, report::RepeatResult> measured_;
};

}  // namespace chexbench::bench
