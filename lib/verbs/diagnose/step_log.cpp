#include "verbs/diagnose/step_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

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
  header.fail(nearest.empty() ? fmt::format("there is no column '{}'; the columns are '{}'", column,
                                            printable(fmt::format("{}", fmt::join(present, "', '")), kMostColumns))
                              : fmt::format("there is no column '{}'; if '{}' holds it, rename that column", column,
                                            printable(nearest)));
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

constexpr double kBoot_s = 1e9;  // times before 2001 are since the host started, and not comparable between hosts
constexpr double kClockTolerance_s = 1e-3;  // times since 1970 are precise to a fraction of a microsecond

using Group = std::vector<const NamedLog*>;  // logs of one rank

bool are_apart(const NamedLog& one, const NamedLog& other) {
  if (!one.log.span || !other.log.span) return false;
  return one.log.span->end_s <= other.log.span->begin_s + kClockTolerance_s ||
         other.log.span->end_s <= one.log.span->begin_s + kClockTolerance_s;
}

bool are_apart(const Group& one, const Group& other) {
  return std::ranges::all_of(one, [&](const NamedLog* log) {
    return std::ranges::all_of(other, [&](const NamedLog* more) { return are_apart(*log, *more); });
  });
}

// Joins each group to the first earlier one that does not overlap it and to which it `belongs`.
template <typename Belongs>
std::vector<Group> join(const std::vector<Group>& groups, Belongs belongs) {
  std::vector<Group> joined;
  for (const Group& group : groups) {
    const auto found = std::ranges::find_if(
        joined, [&](const Group& other) { return belongs(group, other) && are_apart(group, other); });
    if (found == joined.end()) {
      joined.push_back(group);
    } else {
      found->insert(found->end(), group.begin(), group.end());
    }
  }
  return joined;
}

// Returns the logs that name no rank, by rank. Those that name one are separate groups, which use up a number.
std::vector<Group> by_rank(const std::vector<NamedLog>& logs) {
  std::vector<Group> groups;
  for (const NamedLog& log : logs) groups.push_back({&log});
  const auto unnamed = [](const Group& one, const Group& other) {
    return !one.front()->log.names_ranks && !other.front()->log.names_ranks;
  };
  const std::vector<Group> processes = join(groups, [&](const Group& one, const Group& other) {
    return unnamed(one, other) && one.front()->log.process == other.front()->log.process;
  });
  const auto since_1970 = [](const Group& group) { return group.front()->log.span->begin_s > kBoot_s; };
  return join(processes, [&](const Group& one, const Group& other) {
    return unnamed(one, other) && one.front()->log.span && other.front()->log.span && since_1970(one) &&
           since_1970(other);
  });
}

// @throws DataError if two logs have overlapping steps of a rank
void check_ranks(const std::vector<NamedLog>& logs) {
  std::map<int, Group> logs_of;
  for (const NamedLog& log : logs) {
    for (const LoggedStep& step : log.log.steps) {
      Group& known = logs_of[step.rank];
      if (!known.empty() && known.back() == &log) continue;
      for (const NamedLog* const other : known) {
        if (are_apart(log, *other)) continue;
        throw DataError(fmt::format("{}: rank {} is in {}, too; give each rank its number in the column 'rank'",
                                    log.name, step.rank, other->name));
      }
      known.push_back(&log);
    }
  }
}

void number_ranks(std::vector<NamedLog>& logs) {
  int rank = 0;
  for (const Group& group : by_rank(logs)) {
    for (NamedLog& log : logs) {
      if (log.log.names_ranks || std::ranges::find(group, &log) == group.end()) continue;
      for (LoggedStep& step : log.log.steps) step.rank = rank;
    }
    if (group.size() > 1) {
      logs.front().log.notes.push_back(fmt::format(
          "{} traces were recorded one after the other and name no rank: they count as rank {}.", group.size(), rank));
    }
    ++rank;
  }
}

void check_images(const std::vector<NamedLog>& logs) {
  for (std::size_t i = 1; i < logs.size(); ++i) {
    if (logs[i].log.counts_images == logs[i - 1].log.counts_images) continue;
    throw SpecError(
        fmt::format("{} and {}: only one of them counts images; add --batch N, the images of a step and rank",
                    logs[i - 1].name, logs[i].name));
  }
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

StepLog join_logs(std::vector<NamedLog> logs, int batch) {
  if (batch == 0) check_images(logs);
  number_ranks(logs);
  check_ranks(logs);
  std::ranges::stable_sort(logs, {}, [](const NamedLog& log) { return log.log.span ? log.log.span->begin_s : 0; });
  StepLog all;
  for (NamedLog& log : logs) {
    all.counts_images = log.log.counts_images || batch > 0;
    for (LoggedStep& step : log.log.steps) {
      if (!log.log.counts_images) step.images = batch > 0 ? batch : 1;
      all.steps.push_back(step);
    }
    all.least_waits = all.least_waits || log.log.least_waits;
    for (std::string& note : log.log.notes) {
      if (std::ranges::find(all.notes, note) == all.notes.end()) all.notes.push_back(std::move(note));
    }
  }
  return all;
}

}  // namespace chexbench::verbs
