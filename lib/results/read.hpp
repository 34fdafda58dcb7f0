// Reads results back from files: a report.json, and the lines of a journal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// Returns the contents of a file. A pipe is read to its end.
// @throws DataError if the file cannot be read, or is larger than 1 GiB
std::string read_text(const std::string& path);

// Returns the report.json of a run; `path` is that file, or the folder that the run was written to.
// @throws SpecError if there is no report.json
std::string report_file(const std::string& path);

// Reads the report.json of a run; `path` is that file, or the folder that the run was written to.
// @throws SpecError if there is no report.json
// @throws DataError if the file cannot be read, is damaged, or has another schema_version
Report read_report(const std::string& path);

// Returns whether any repeat of any trial was measured.
bool has_results(const Report& report);

// Reads the runs at `path`, which is a report.json, the folder of a run, or a folder with runs below it. Returns at
// least one run, ordered by path.
// @throws DataError naming the file that cannot be read or is not a report, or the folder without a report
std::vector<Report> read_runs(const std::string& path);

// Parses the text of a report.json. Errors begin with `name`, e.g. the path. Figures and ablations are not read,
// because they can be derived again from the repeats; the trace of a trial is not in the file. Missing fields of
// records keep their defaults, so that reports written before a field was added can be read.
// @throws DataError if the text is not a report, has a schema_version other than kSchemaVersion, or if the spec of a
// trial is not valid
Report report_from_json(std::string_view text, const std::string& name);

// Parses only the name of the experiment. Accepts every schema_version.
// @throws DataError if the text is not a report
std::string experiment_from_json(std::string_view text, const std::string& name);

// A line of a run's journal: one finished repeat as a JSON object, so that a run that was killed can be resumed.
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
