// Converts the lines of a run's journal. Each line is one finished repeat as a JSON object, so that a run that was
// killed can be resumed. This header only handles text; bench reads and writes the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// The contents of one line.
struct JournalEntry {
  std::string key;  // of the trial that the repeat belongs to (TrialResult::key)
  RepeatResult repeat;
};

// Returns the entry as one line of JSON, without a newline. Numbers keep every bit; NaN becomes null.
std::string to_journal_line(const JournalEntry& entry);

// The contents of a journal.
struct JournalContents {
  std::vector<JournalEntry> entries;
  std::size_t whole_bytes = 0;  // length of the lines that end with a newline: where the next line must be written
};

// Parses all lines of a journal. Ignores a last line without a newline, cut off by a crash. Errors begin with `name`,
// e.g. the path.
// @throws DataError naming the line if a whole line is damaged, has another schema_version, or contains values that no
// run can have measured (negative times, rates or numbers)
JournalContents journal_from_text(std::string_view text, const std::string& name);

}  // namespace chexbench::results
