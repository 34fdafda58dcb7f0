// A device that runs queued work later than it was queued, in any order that streams and events allow: the stand-in for
// the asynchrony of a GPU. Everything runs on the calling thread, in an order that a seed decides, so a failure can be
// repeated.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace strict {

using Work = std::function<void()>;

struct Capture;

struct Event {
  std::uint64_t recorded = 0, completed = 0;  // how often it was queued and passed
  double at_ms = 0;
  std::shared_ptr<Capture> capture;  // in which it was recorded last; null: outside of any
  std::vector<int> after;            // the work that it then waits for
};

// A node of a graph: runs after the nodes `after`.
struct Node {
  Work work;
  std::vector<int> after;
  Event* records = nullptr;  // for the host, reset by every launch
};
using GraphBody = std::vector<Node>;

struct Stream {
  struct Launch {
    std::shared_ptr<const GraphBody> body;
    std::vector<bool> done;
    std::vector<std::uint64_t> versions;  // of the events that its nodes record
    std::size_t left = 0;
  };
  struct Operation {
    Work work;
    std::function<bool()> may_run = [] { return true; };
    std::shared_ptr<Launch> launch;
  };
  int priority = 0;
  std::deque<Operation> queue;
  std::shared_ptr<Capture> capture;
  std::vector<int> after;  // in a capture: the nodes that the next one runs after
};

struct Capture {
  Stream* origin = nullptr;
  GraphBody body;
  std::set<Stream*> joined;
};

// Holds every stream and event until the end, so that a late use of a destroyed one is found and not undefined.
class Scheduler {
 public:
  // In order: work runs as soon as it is queued. Otherwise it runs only while the host waits or asks, in random order.
  explicit Scheduler(unsigned seed, bool in_order) : random_(seed), in_order_(in_order) {}

  Stream& new_stream(int priority);
  Event& new_event();

  // Adds work to a stream or to the graph that is being captured from it. `may_run` returns whether it can begin.
  void enqueue(
      Stream& stream, Work work, std::function<bool()> may_run = [] { return true; });
  void record(Stream& stream, Event& event);
  void record_external(Stream& stream, Event& event);
  void launch(Stream& stream, const std::shared_ptr<const GraphBody>& body);

  // Runs work until `done` returns true. Returns false if nothing can run any more.
  bool run_until(const std::function<bool()>& done);
  // Runs a few pieces of work, or none.
  void run_some();
  bool is_idle(const Stream& stream) const { return stream.queue.empty(); }
  bool is_idle() const;

  // Calls `act` before each piece of work, for actions that another thread may do at any time. Nothing may be queued
  // there.
  void before_each(std::function<void()> act) { before_each_ = std::move(act); }

  std::uint64_t executed() const { return executed_; }
  // The device fails at that piece of work, and runs nothing from then on.
  void fail_at(std::uint64_t number) { fails_at_ = number; }
  bool has_failed() const { return executed_ >= fails_at_; }

 private:
  bool step();
  void run_node(Stream::Launch& launch);
  std::size_t below(std::size_t bound) { return random_() % bound; }
  void pass(Event& event, std::uint64_t version);

  std::mt19937 random_;
  const bool in_order_;
  std::deque<Stream> streams_;
  std::deque<Event> events_;
  Stream* favourite_ = nullptr;  // runs ahead of the others, for a while
  std::function<void()> before_each_ = [] {};
  std::uint64_t executed_ = 0;
  std::uint64_t fails_at_ = UINT64_MAX;
  double now_ms_ = 1;
};

}  // namespace strict
