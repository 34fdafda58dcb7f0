#include "verbs/diagnose/step_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"

namespace chexbench::verbs {
namespace {

constexpr double kMost = 1e12;  // far above the seconds and images of any step, with finite sums
constexpr int kMostNumber = 1'000'000'000;
constexpr std::size_t kMostShownBytes = 200;  // of a quotation in a message
constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

using Cells = std::vector<std::string_view>;

// The positions of the columns; kAbsent for an optional column that is missing.
struct Columns {
  std::size_t wait_s = kAbsent;
  std::size_t step_s = kAbsent;
  std::size_t images = kAbsent;
  std::size_t rank = kAbsent;
  std::size_t epoch = kAbsent;
};

// A line of the log, with its name and number in messages.
class Row {
 public:
  Row(const std::string& name, std::size_t number, std::string_view line) : name_(name), number_(number), line_(line) {
    split_csv_line(line, fields_);
  }
  const Cells& fields() const { return fields_; }

  [[noreturn]] void fail(const std::string& complaint) const {
    throw DataError(fmt::format("{}, line {}: {}", name_, number_, complaint));
  }
  [[noreturn]] void fail(std::size_t field, const std::string& complaint) const {
    const auto column = fields_[field].data() - line_.data() + 1;
    throw DataError(fmt::format("{}, line {}, column {}: {}", name_, number_, column, complaint));
  }

  double number(std::size_t field, const char* what) const {
    const std::string_view text = fields_[field];
    const auto value = parse_number<double>(text);
    if (!value || !std::isfinite(*value) || *value > kMost) {
      fail(field, fmt::format("{} is '{}', and must be a number", what, printable(text, kMostShownBytes)));
    }
    if (*value < 0) fail(field, fmt::format("{} is {}, and cannot be below 0", what, *value));
    return *value;
  }

  int whole_number(std::size_t field, const char* what) const {
    const double value = number(field, what);
    if (value > kMostNumber || value != std::floor(value)) {
      fail(field, fmt::format("{} is {}, and must be a whole number", what, value));
    }
    return static_cast<int>(value);
  }

 private:
  const std::string& name_;
  std::size_t number_;
  std::string_view line_;
  Cells fields_;
};

// Returns the position of a column, or kAbsent.
// @throws DataError if there are two columns of that name
std::size_t place(const Row& header, std::string_view column) {
  const auto found = std::ranges::find(header.fields(), column);
  if (found == header.fields().end()) return kAbsent;
  if (std::find(found + 1, header.fields().end(), column) != header.fields().end()) {
    header.fail(fmt::format("there are two columns '{}'", column));
  }
  return static_cast<std::size_t>(found - header.fields().begin());
}

std::size_t needed(const Row& header, const std::string& column) {
  constexpr std::size_t kMostColumns = 1000;  // bytes of the message with the present columns
  const std::size_t found = place(header, column);
  if (found != kAbsent) return found;
  std::vector<std::string> present;  // a foreign file's header may have any length and any bytes
  for (const std::string_view name : header.fields()) present.push_back(printable(name, kMostShownBytes));
  const std::string nearest = nearest_name(column, present);
  header.fail(nearest.empty()
                  ? fmt::format("there is no column '{}'; the columns are '{}'", column,
                                printable(fmt::format("{}", fmt::join(present, "', '")), kMostColumns))
                  : fmt::format("there is no column '{}'; if '{}' is that, rename it", column, printable(nearest)));
}

// Rejects a header whose only field contains another delimiter: spreadsheets write those in many countries.
void check_delimiter(const Row& header) {
  if (header.fields().size() != 1) return;
  for (const auto& [delimiter, word] : {std::pair{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}}) {
    const std::size_t at = header.fields()[0].find(delimiter);
    if (at == std::string_view::npos) continue;
    header.fail(
        fmt::format("its columns are separated by {} (the first at column {}); write commas, and numbers with a "
                    "point",
                    word, at + 1));
  }
}

Columns columns_of(const Row& header) {
  check_delimiter(header);
  return {.wait_s = needed(header, "wait_s"),
          .step_s = needed(header, "step_s"),
          .images = needed(header, "images"),
          .rank = place(header, "rank"),
          .epoch = place(header, "epoch")};
}

LoggedStep step_of(const Row& row, const Columns& columns) {
  LoggedStep step{.wait_s = row.number(columns.wait_s, "wait_s"),
                  .step_s = row.number(columns.step_s, "step_s"),
                  .images = row.number(columns.images, "images")};
  if (step.step_s == 0) row.fail(columns.step_s, "step_s is 0, and a step takes time");
  if (step.images == 0) row.fail(columns.images, "images is 0, and a step trains on some");
  if (step.wait_s > step.step_s) {
    row.fail(columns.wait_s,
             fmt::format("wait_s is {}, more than step_s, {}, which includes it", step.wait_s, step.step_s));
  }
  if (columns.rank != kAbsent) step.rank = row.whole_number(columns.rank, "rank");
  if (columns.epoch != kAbsent) step.epoch = row.whole_number(columns.epoch, "epoch");
  return step;
}

}  // namespace

std::vector<LoggedStep> step_log_from_csv(std::string_view text, const std::string& name) {
  LineReader lines(text);
  std::string_view line;
  if (!lines.next(line)) throw DataError(name + ": it is empty; a log begins with the names of its columns");
  const Row header(name, lines.number(), line);
  const Columns columns = columns_of(header);
  std::vector<LoggedStep> steps;
  while (lines.next(line)) {
    if (trimmed(line).empty()) continue;
    const Row row(name, lines.number(), line);
    const bool unended = line.data() + line.size() == text.data() + text.size();
    const bool lacks_fields = row.fields().size() < header.fields().size() || row.fields().back().empty();
    if (unended && lacks_fields) break;
    if (row.fields().size() != header.fields().size()) {
      row.fail(fmt::format("it has {} fields, and the header {}", row.fields().size(), header.fields().size()));
    }
    steps.push_back(step_of(row, columns));
  }
  if (steps.empty()) throw DataError(name + ": it has no step after its header");
  return steps;
}

}  // namespace chexbench::verbs
