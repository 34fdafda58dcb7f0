// Watches the waits of this rank for others: says after 9 s, and then every 60 s, for which rank it waits and where
// that rank is, and gives up after a limit.
//
// Some 1.5 s before a line is due, a rank asks the others where they are, by notes on an MPI communicator of their own;
// nothing is sent before. The comm threads answer, also while their rank computes. Only the lowest rank that waits in
// an operation speaks, and ranks ask ranks 0 and 1 first: if one of them waits there, too, they leave it to it, because
// a thousand ranks that all ask all would connect a million pairs.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "comm/comm_thread.hpp"
#include "comm/communicator.hpp"

namespace chexbench::comm {

// Says in words for which ranks a rank waits, from what the other ranks answer. Pure functions; WaitWatch asks.

// Where a rank is in the operations of one lane, which all ranks of a group begin in the same order.
struct LaneState {
  std::int64_t begun = 0;   // number of operations that it has begun
  bool is_waiting = false;  // in the last of them, and not beyond it
  std::string what;         // of the last one: "averaging of gradients"
  std::string phase;        // what the rank's own threads do: "step 12"
};

// A wait, as the rank that waits sees it.
struct Wait {
  int rank = 0;
  double waited_s = 0;  // since something last moved
  LaneState own;
  Patience patience = Patience::unlimited;
  double timeout_s = 0;  // 0: none
  // Of each rank of the group: its answer, or nothing, and how long it has been silent; not used for `rank` itself.
  std::vector<std::optional<LaneState>> answers;
  std::vector<double> silent_s;
  std::vector<std::string> hosts;  // of each rank of the group, at least
};

struct WaitVerdict {
  bool is_left_to_lower = false;  // a lower rank waits in the same operation and says what there is to say
  bool is_worth_a_line = false;
  bool has_expired = false;
  bool has_diverged = false;  // a rank waits in another operation, so both would wait for ever
  std::string text;           // "waiting for rank 1 (node2) for 9 s: averaging of gradients, step 12; rank 1 ..."
};

// Decides what the rank says and whether it gives up. It waits for ranks that do not answer, and for those that have
// not begun the operation. It gives up after `timeout_s` if its patience is limited, and otherwise only if a rank that
// it waits for has been silent for as long.
WaitVerdict judge(const Wait& wait);

// A lane of operations that all ranks of a group begin in the same order. Groups are the first ranks of the world.
struct WatchedLane {
  std::uint64_t group = 0;  // the same number on all its ranks
  std::int32_t part = 0;    // 0: collectives, 1: gradients
  int ranks = 1;            // of the group

  friend bool operator==(const WatchedLane&, const WatchedLane&) = default;
  friend bool operator<(const WatchedLane& a, const WatchedLane& b) {
    return std::tie(a.group, a.part, a.ranks) < std::tie(b.group, b.part, b.ranks);
  }
};

// A message between two watches. Plain bytes, because all ranks run the same program.
struct WaitNote {
  static constexpr std::size_t kWhatBytes = 32;
  static constexpr std::size_t kPhaseBytes = 192;
  WatchedLane lane;
  std::int64_t asked_number = 0;  // the operation in which the one who asks waits
  std::int64_t begun = 0;         // an answer: LaneState of the one who answers
  std::int32_t is_answer = 0;
  std::int32_t is_waiting = 0;
  char what[kWhatBytes] = {};
  char phase[kPhaseBytes] = {};
};

// Carries notes; mpi_library.hpp does it over MPI. Used on the comm thread only, and never blocks.
class NoteLinks {
 public:
  virtual ~NoteLinks() = default;
  virtual void send(int rank, const WaitNote& note) = 0;
  // Returns a note that has come, and who sent it.
  virtual std::optional<std::pair<int, WaitNote>> receive() = 0;
};

// How long waits go on silently; in seconds.
struct WaitTimes {
  double first_line_s = 9;  // so that no job is silent for over 10, counted from when a rank stopped
  double next_line_s = 60;
};

// Functions without a comment about threads are for the comm thread.
class WaitWatch {
 public:
  // `rank` and `hosts` are those of the world. `now` is a clock in seconds, `say` gets the lines.
  WaitWatch(int rank, std::vector<std::string> hosts, std::unique_ptr<NoteLinks> links, std::function<double()> now,
            std::function<void(const std::string&)> say);

  // Returns `poll` as an operation of `lane` that is watched. Its first poll begins it. The watch must outlive it.
  // May be called on any thread.
  // @throws DeviceError from the operation if this rank gave up waiting or an operation failed, this one or another
  // @throws SpecError from it if the ranks have diverged
  Poll watched(WatchedLane lane, std::string_view what, Poll poll);
  // Answers, asks and speaks. Returns the seconds after which it must be called again.
  double look();
  // What this rank does from now on. Thread-safe.
  void enter(Phase phase);
  void enter_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }
  // Gives up waits after so many seconds; 0: never. A shorter limit than 20 s brings the first line forward.
  // Thread-safe.
  void limit(double timeout_s) { timeout_s_ = timeout_s; }
  // Whether this rank gave up, or an operation or the links failed: then nothing but the end of the job may follow.
  // Thread-safe.
  bool gave_up() const { return gave_up_; }

 private:
  // The operation of a lane that is under way, and what others said about it.
  struct Watched {
    std::int64_t begun = 0;
    bool is_waiting = false;
    std::string what;
    double moved_s = 0;
    double next_verdict_s = 0;  // seconds of waiting
    bool asked_first = false, asked_all = false;
    std::vector<std::optional<LaneState>> answers;  // by rank
  };
  WaitTimes times() const;
  std::string phase_text() const;
  LaneState state_of(const Watched& lane) const;
  void begin(const WatchedLane& lane, std::string_view what);
  void end(const WatchedLane& lane);
  void moved(Watched& watched) const;
  Progress poll_or_give_up(Poll& poll);
  void give_up(std::exception_ptr why);
  void take_notes();
  void ask(const WatchedLane& lane, Watched& watched, int first, int last);
  void watch(const WatchedLane& lane, Watched& watched);
  void pass_verdict(const WatchedLane& lane, Watched& watched, double waited_s);

  const int rank_;
  const std::vector<std::string> hosts_;
  const std::unique_ptr<NoteLinks> links_;
  const std::function<double()> now_;
  const std::function<void(const std::string&)> say_;
  std::map<WatchedLane, Watched> lanes_;  // never erased, because others may ask about lanes that are gone
  std::vector<double> heard_s_;           // when each rank last sent something
  std::atomic<double> timeout_s_ = 0;
  std::atomic<bool> gave_up_ = false;
  std::exception_ptr why_;  // it gave up
  std::atomic<std::int64_t> step_ = -1;
  mutable std::mutex mutex_;
  Phase phase_;  // under mutex_
};

}  // namespace chexbench::comm
