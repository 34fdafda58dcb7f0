// CSV: lines, fields, and a step log, which is made of both.
#include <algorithm>
#include <cmath>

#include "core/csv.hpp"
#include "fuzz/fuzz.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::fuzz {
namespace {

bool lies_in(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace

FUZZ_TARGET(csv, "core/csv.cpp") {
  const std::string_view text = Input(bytes).text();
  LineReader lines(text);
  std::vector<std::string_view> fields;
  std::size_t read = 0;
  for (std::string_view line; lines.next(line);) {
    require(lines.number() == ++read, "lines are numbered wrongly");
    require(
        lies_in(line, text) && (line.find('\n') == std::string_view::npos || line.find('\r') == std::string_view::npos),
        "a line is not one line of the text");
    split_csv_line(line, fields);
    require(!fields.empty(), "a line has no field");
    const char* end = line.data();
    for (const std::string_view field : fields) {
      require(lies_in(field, line) && field.data() >= end, "fields overlap or lie outside of their line");
      require(lies_in(trimmed(field), field), "a trimmed text lies outside of the text");
      end = field.data() + field.size();
    }
    if (line.find('"') != std::string_view::npos) continue;
    const auto commas = static_cast<std::size_t>(std::ranges::count(line, ','));
    require(fields.size() == commas + 1, "commas do not separate the fields");
  }
  LineReader records(text);
  const char* end = text.data();
  for (std::string_view record; records.next_record(record, ',');) {
    require(lies_in(record, text) && record.data() >= end, "records overlap or lie outside of the text");
    end = record.data() + record.size();
  }
}

FUZZ_TARGET(step_log, "verbs/diagnose/step_log.cpp core/csv.cpp") {
  const auto steps =
      accepted({ExitCode::data}, [&] { return verbs::step_log_from_csv(Input(bytes).text(), "steps.csv"); });
  if (!steps) return;
  require(!steps->empty(), "a step log has no steps");
  for (const verbs::LoggedStep& step : *steps) {
    require(step.step_s > 0 && step.wait_s >= 0 && step.wait_s <= step.step_s && step.images > 0 && step.rank >= 0 &&
                step.epoch >= 0 && std::isfinite(step.step_s + step.images),
            "a step has values that no step can have");
  }
}

}  // namespace chexbench::fuzz
