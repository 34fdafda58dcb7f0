// Watches this rank's waits for others: reports after 9 s, and then every 60 s, which rank it waits for and where that
// rank is, and gives up after a limit.
//
// Some 1.5 s before a line is due, a rank asks the others where they are, by notes on a separate MPI communicator;
// nothing is sent earlier. The comm threads answer even while their rank computes. Only the lowest rank that waits in
// an operation reports. Ranks ask ranks 0 and 1 first and leave the reporting to them if they wait there, too, because
// a thousand ranks that all ask each other would connect a million pairs.
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

// Describes which ranks a rank waits for, given the other ranks' answers. Pure functions; WaitWatch asks.

// Where a rank is in the operations of one lane, which all ranks of a group begin in the same order.
struct LaneState {
  std::int64_t begun = 0;   // number of operations that it has begun
  bool is_waiting = false;  // in the last of them, and not beyond it
  std::string what;         // of the last one: "averaging of gradients"
  std::string phase;        // what the rank's own threads are doing: "step 12"
};

// A wait, as seen by the waiting rank.
struct Wait {
  int rank = 0;
  double waited_s = 0;  // since something last moved
  LaneState own;
  Patience patience = Patience::unlimited;
  double timeout_s = 0;  // 0: none
  // For each rank of the group: its answer, if any, and how long it has been silent; not used for `rank` itself.
  std::vector<std::optional<LaneState>> answers;
  std::vector<double> silent_s;
  std::vector<std::string> hosts;  // for at least each rank of the group
};

struct WaitVerdict {
  bool is_left_to_lower = false;  // a lower rank waits in the same operation and reports
  bool is_worth_a_line = false;
  bool has_expired = false;
  bool has_diverged = false;  // a rank waits in another operation, so both would wait for ever
  std::string text;           // "waiting for rank 1 (node2) for 9 s: averaging of gradients, step 12; rank 1 ..."
};

// Decides what the rank reports and whether it gives up. It waits for ranks that do not answer, and for those that have
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
  std::int64_t asked_number = 0;  // the operation in which the asking rank waits
  std::int64_t begun = 0;         // an answer: LaneState of the answering rank
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
  // Returns a note that has arrived, and its sender.
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
  // Answers, asks and reports. Returns the seconds after which it must be called again.
  double look();
  // Sets what this rank is doing from now on. Thread-safe.
  void enter(Phase phase);
  void enter_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }
  // Gives up waits after so many seconds; 0: never. A shorter limit than 20 s brings the first line forward.
  // Thread-safe.
  void limit(double timeout_s) { timeout_s_ = timeout_s; }
  // Whether this rank gave up, or an operation or the links failed: then the job can only end. Thread-safe.
  bool gave_up() const { return gave_up_; }

 private:
  // The current operation of a lane, and other ranks' answers about it.
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
  std::map<WatchedLane, Watched> lanes_;  // never erased, because others may ask about lanes that have ended
  std::vector<double> heard_s_;           // when each rank last sent something
  std::atomic<double> timeout_s_ = 0;
  std::atomic<bool> gave_up_ = false;
  std::exception_ptr why_;  // it gave up
  std::atomic<std::int64_t> step_ = -1;
  mutable std::mutex mutex_;
  Phase phase_;  // under mutex_
};

}  // namespace chexbench::comm
