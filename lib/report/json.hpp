// The report and the journal's lines as JSON. Numbers keep every bit; NaN (a loss where no arithmetic is done) is null.
#pragma once

#include <string>
#include <string_view>

#include "report/record.hpp"

namespace chexbench::report {

// report.json: schema_version, environment, and each trial with its resolved spec, figures, repeats, op counters,
// steps, samples of GPUs.
std::string to_json(const Report& report);

// The report that to_json() wrote; figures are derived again, not read. `name` stands in messages, e.g. the path.
// Keys that are missing keep their defaults, so that reports written before a field was added can be read.
// @throws DataError for text that is no report, or of a newer schema_version
Report report_from_json(std::string_view text, const std::string& name);

// The name of the experiment alone, of a report of any schema_version. @throws DataError for text that is no report
std::string experiment_from_json(std::string_view text, const std::string& name);

// One line of a journal, without its newline.
struct JournalEntry {
  std::string key;  // of the trial
  RepeatResult repeat;
};
std::string to_journal_line(const JournalEntry& entry);

struct JournalContents {
  std::vector<JournalEntry> entries;
  std::size_t whole_bytes = 0;  // of the text, without a torn last line: where the next line has to begin
};
// All lines of a journal's text. A last line without newline was torn by a crash and is left out.
// @throws DataError naming the number of a whole line that is damaged, or holds what nobody can have measured
JournalContents journal_from_text(std::string_view text, const std::string& name);

}  // namespace chexbench::report
