#include "comm/wait_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace chexbench::comm {
namespace {

bool is_in_same(const std::optional<LaneState>& answer, const LaneState& own) {
  return answer && answer->begun == own.begun && answer->is_waiting;
}

bool is_missing(const std::optional<LaneState>& answer, const LaneState& own) {
  return !answer || answer->begun < own.begun;
}

std::string names_of(const std::vector<std::size_t>& ranks, const std::vector<std::string>& hosts) {
  constexpr std::size_t kMostNamed = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostNamed); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", ranks[i], hosts[ranks[i]]);
  if (ranks.size() > kMostNamed) text += fmt::format(" and {} more", ranks.size() - kMostNamed);
  return text;
}

std::string described(const LaneState& state) {
  return state.phase.empty() ? state.what : fmt::format("{}, {}", state.what, state.phase);
}

std::string reason(std::size_t rank, const std::optional<LaneState>& answer, const LaneState& own) {
  if (!answer) return fmt::format("rank {} does not answer: it is stopped, or its host or the network hangs", rank);
  if (answer->begun == own.begun)
    return fmt::format("rank {} takes part in '{}' instead: the ranks have diverged", rank, described(*answer));
  if (answer->is_waiting) return fmt::format("rank {} answers, and waits in {}", rank, described(*answer));
  return fmt::format("rank {} answers, and is busy: {}", rank,
                     answer->phase.empty() ? "it does not say" : answer->phase);
}

}  // namespace

WaitVerdict judge(const Wait& wait) {
  WaitVerdict verdict;
  std::vector<std::size_t> missing, diverged;
  double longest_silence_s = 0;
  for (std::size_t rank = 0; rank < wait.answers.size(); ++rank) {
    if (static_cast<int>(rank) == wait.rank) continue;
    const std::optional<LaneState>& answer = wait.answers[rank];
    const bool same = is_in_same(answer, wait.own);
    verdict.is_left_to_lower |= same && answer->what == wait.own.what && static_cast<int>(rank) < wait.rank;
    if (same && answer->what != wait.own.what) diverged.push_back(rank);
    if (is_missing(answer, wait.own)) missing.push_back(rank);
    if (!answer) longest_silence_s = std::max(longest_silence_s, wait.silent_s[rank]);
  }
  const bool is_silent = longest_silence_s > 0;
  verdict.is_worth_a_line = wait.patience != Patience::silent || is_silent;
  verdict.has_expired =
      wait.timeout_s > 0 &&
      (wait.patience == Patience::limited ? wait.waited_s >= wait.timeout_s : longest_silence_s >= wait.timeout_s);
  verdict.has_diverged = !diverged.empty();
  const std::vector<std::size_t>& named = diverged.empty() ? missing : diverged;
  if (named.empty()) {
    verdict.text = fmt::format(
        "waiting for {:.0f} s: {}; all ranks have come, and nothing arrives: the network between "
        "them hangs",
        wait.waited_s, described(wait.own));
    return verdict;
  }
  verdict.text = fmt::format("waiting for {} for {:.0f} s: {}; {}", names_of(named, wait.hosts), wait.waited_s,
                             described(wait.own), reason(named.front(), wait.answers[named.front()], wait.own));
  return verdict;
}

}  // namespace chexbench::comm
