#include "comm/wait_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

// Answers have this share of the time before a line, at most kMostLeadS: a busy host may take a while.
constexpr double kLeadShare = 0.3;
constexpr double kMostLeadS = 3;
constexpr double kLooksPerLead = 6;
constexpr double kLongestUnseenS = 0.1;  // a note; a look takes microseconds
// If one of these waits in the same operation, it reports for the others, so that not every rank must ask every rank.
constexpr int kSpeakers = 2;

template <std::size_t bytes>
void put(char (&to)[bytes], std::string_view text) {
  const std::size_t count = std::min(text.size(), bytes - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

template <std::size_t bytes>
std::string get(const char (&from)[bytes]) {
  return {from, strnlen(from, bytes)};
}

double lead_s(const WaitTimes& times) { return std::min(kMostLeadS, kLeadShare * times.first_line_s); }

}  // namespace

WaitWatch::WaitWatch(int rank, std::vector<std::string> hosts, std::unique_ptr<NoteLinks> links,
                     std::function<double()> now, std::function<void(const std::string&)> say)
    : rank_(rank),
      hosts_(std::move(hosts)),
      links_(std::move(links)),
      now_(std::move(now)),
      say_(std::move(say)),
      heard_s_(hosts_.size(), now_()) {}

WaitTimes WaitWatch::times() const {
  WaitTimes times;
  const double timeout_s = timeout_s_;
  if (timeout_s > 0) times.first_line_s = std::min(times.first_line_s, timeout_s / 2);
  return times;
}

void WaitWatch::enter(Phase phase) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(phase);
  step_ = -1;
}

std::string WaitWatch::phase_text() const {
  const std::int64_t step = step_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  return step < 0 ? phase_.what : fmt::format("step {} of {}", step + 1, phase_.what);
}

LaneState WaitWatch::state_of(const Watched& lane) const {
  return {.begun = lane.begun, .is_waiting = lane.is_waiting, .what = lane.what, .phase = phase_text()};
}

Poll WaitWatch::watched(WatchedLane lane, std::string_view what, Poll poll) {
  return [this, lane, what, poll = std::move(poll), waiting = std::shared_ptr<void>()]() mutable {
    if (gave_up_) std::rethrow_exception(why_);
    if (!waiting) {
      begin(lane, what);
      waiting.reset(this, [lane](WaitWatch* watch) { watch->end(lane); });  // however the operation ends
    }
    const Progress progress = poll_or_give_up(poll);
    if (progress == Progress::moved) moved(lanes_[lane]);
    if (progress == Progress::done) waiting.reset();
    return progress;
  };
}

// The buffers of an operation that failed are soon gone, and the library may still write into them in any later call.
Progress WaitWatch::poll_or_give_up(Poll& poll) {
  try {
    return poll();
  } catch (const DeviceError&) {
    give_up(std::current_exception());
    throw;
  }
}

void WaitWatch::give_up(std::exception_ptr why) {
  why_ = std::move(why);
  gave_up_ = true;
}

void WaitWatch::begin(const WatchedLane& lane, std::string_view what) {
  Watched& watched = lanes_[lane];
  ++watched.begun;
  watched.is_waiting = true;
  watched.what = what;
  moved(watched);
}

void WaitWatch::end(const WatchedLane& lane) { lanes_[lane].is_waiting = false; }

void WaitWatch::moved(Watched& watched) const {
  watched.moved_s = now_();
  watched.next_verdict_s = times().first_line_s;
  watched.asked_first = watched.asked_all = false;
}

double WaitWatch::look() {
  const double next_s = std::min(kLongestUnseenS, lead_s(times()) / kLooksPerLead);
  if (gave_up_) return next_s;
  try {
    take_notes();
    for (auto& [lane, watched] : lanes_) {
      if (watched.is_waiting) watch(lane, watched);
    }
  } catch (const DeviceError&) {  // of the links: the operations report it
    give_up(std::current_exception());
  }
  return next_s;
}

void WaitWatch::take_notes() {
  while (const auto received = links_->receive()) {
    const auto& [from, note] = *received;
    heard_s_[static_cast<std::size_t>(from)] = now_();
    Watched& watched = lanes_[note.lane];
    if (note.is_answer == 0) {
      WaitNote answer{.lane = note.lane, .asked_number = note.asked_number, .begun = watched.begun, .is_answer = 1};
      answer.is_waiting = watched.is_waiting ? 1 : 0;
      put(answer.what, watched.what);
      put(answer.phase, phase_text());
      links_->send(from, answer);
    } else if (watched.is_waiting && note.asked_number == watched.begun && !watched.answers.empty()) {
      watched.answers[static_cast<std::size_t>(from)] = LaneState{
          .begun = note.begun, .is_waiting = note.is_waiting != 0, .what = get(note.what), .phase = get(note.phase)};
    }
  }
}

// Asks the ranks [first, last) of the lane's group.
void WaitWatch::ask(const WatchedLane& lane, Watched& watched, int first, int last) {
  const WaitNote note{.lane = lane, .asked_number = watched.begun};
  for (int rank = first; rank < last; ++rank) {
    if (rank != rank_) links_->send(rank, note);
  }
}

void WaitWatch::watch(const WatchedLane& lane, Watched& watched) {
  const double waited_s = now_() - watched.moved_s;
  const double lead = lead_s(times());
  const int speakers = std::min(kSpeakers, rank_);
  if (waited_s >= watched.next_verdict_s - lead && !watched.asked_first) {
    watched.answers.assign(static_cast<std::size_t>(lane.ranks), std::nullopt);
    watched.asked_first = true;
    ask(lane, watched, 0, speakers);
  }
  if (waited_s >= watched.next_verdict_s - lead / 2 && !watched.asked_all) {
    watched.asked_all = true;
    const auto speaks = [&](const auto& answer) {
      return answer && answer->is_waiting && answer->begun == watched.begun && answer->what == watched.what;
    };
    if (std::any_of(watched.answers.begin(), watched.answers.begin() + speakers, speaks)) {
      watched.next_verdict_s = waited_s + times().first_line_s;
      watched.asked_first = watched.asked_all = false;
      return;
    }
    ask(lane, watched, speakers, lane.ranks);
  }
  if (waited_s >= watched.next_verdict_s) pass_verdict(lane, watched, waited_s);
}

void WaitWatch::pass_verdict(const WatchedLane& lane, Watched& watched, double waited_s) {
  Wait wait{.rank = rank_,
            .waited_s = waited_s,
            .own = state_of(watched),
            .timeout_s = timeout_s_,
            .answers = watched.answers,
            .silent_s = {},
            .hosts = hosts_};
  {
    const std::lock_guard lock(mutex_);
    wait.patience = phase_.patience;
  }
  for (int rank = 0; rank < lane.ranks; ++rank)
    wait.silent_s.push_back(now_() - std::max(watched.moved_s, heard_s_[static_cast<std::size_t>(rank)]));
  const WaitVerdict verdict = judge(wait);
  const WaitTimes pauses = times();
  const double timeout_s = wait.timeout_s;
  watched.next_verdict_s = waited_s + (verdict.is_left_to_lower ? pauses.first_line_s : pauses.next_line_s);
  if (waited_s < timeout_s) watched.next_verdict_s = std::min(watched.next_verdict_s, timeout_s);
  watched.asked_first = watched.asked_all = false;
  if (verdict.has_diverged) {
    return give_up(
        std::make_exception_ptr(SpecError(verdict.text + ": start all ranks with the same command, spec and data")));
  }
  if (verdict.is_left_to_lower || (!verdict.is_worth_a_line && !verdict.has_expired)) return;
  if (!verdict.has_expired) return say_(verdict.text);
  give_up(std::make_exception_ptr(
      DeviceError(fmt::format("comm.timeout_s: gave up after {:g} s: {}", timeout_s, verdict.text))));
}

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
