#include "verbs/diagnose/join_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::verbs {
namespace {

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
