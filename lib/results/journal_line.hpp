// The lines of a run's journal: one finished repeat each, as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// What one line of a journal says.
struct JournalEntry {
  std::string key;  // of the trial
  RepeatResult repeat;
};

// Returns the entry as one line of JSON, without a newline. Numbers keep every bit; NaN becomes null.
std::string to_journal_line(const JournalEntry& entry);

// What a journal's text says.
struct JournalContents {
  std::vector<JournalEntry> entries;
  std::size_t whole_bytes = 0;  // bytes of the text's whole lines: the offset at which the next line has to begin
};

// Parses all lines of a journal. Leaves out a last line without a newline, which a crash has torn.
// @throws DataError naming the number of a whole line that is damaged, or that holds values no run can have measured
JournalContents journal_from_text(std::string_view text, const std::string& name);

}  // namespace chexbench::results
