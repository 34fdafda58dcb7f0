// Files of runs: report.json and the journal.
#include "fuzz/fuzz.hpp"
#include "report/json.hpp"
#include "results/read.hpp"

namespace chexbench::fuzz {

FUZZ_TARGET(journal, "results/read.cpp results/record_json.cpp") {
  const std::string_view text = Input(bytes).text();
  const auto journal = accepted({ExitCode::data}, [&] { return results::journal_from_text(text, "journal.jsonl"); });
  if (!journal) return;
  require(journal->whole_bytes <= text.size(), "a journal is longer than its text");
  require(journal->whole_bytes == 0 || text[journal->whole_bytes - 1] == '\n', "a journal ends within a line");
  for (const results::JournalEntry& entry : journal->entries) {
    const std::string line = results::to_journal_line(entry);
    const auto again = accepted({}, [&] { return results::journal_from_text(line + '\n', "again"); });
    require(again->entries.size() == 1 && results::to_journal_line(again->entries.front()) == line,
            "a journal's line is read as another one");
  }
}

FUZZ_TARGET(report, "results/read.cpp results/record_json.cpp results/labels.cpp results/gpu_summary.cpp") {
  const std::string_view text = Input(bytes).text();
  accepted({ExitCode::data}, [&] { return results::experiment_from_json(text, "report.json"); });
  const auto report = accepted({ExitCode::data}, [&] { return results::report_from_json(text, "report.json"); });
  if (!report) return;
  const std::string written = report::to_json(*report);
  const auto again = accepted({}, [&] { return results::report_from_json(written, "again"); });
  require(report::to_json(*again) == written, "a written report is read as another one");
}

}  // namespace chexbench::fuzz
