// The events of Chrome's trace format, which torch.profiler and Horovod write: a list, or an object with one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "verbs/diagnose/foreign/json_walk.hpp"

namespace chexbench::verbs::foreign {

using TraceId = std::variant<double, std::string>;  // a process or thread: the format allows numbers and names

struct TraceEvent {
  std::string phase;
  std::string name;
  std::string category;
  std::optional<double> begin_us;
  std::optional<double> duration_us;
  TraceId process;
  TraceId thread;
};

// The times of an event. Messages name its place.
// @throws DataError if they are missing, or impossibly long
double begin_us(const Place& place, const TraceEvent& event);
double end_us(const Place& place, const TraceEvent& event);

// Receives each event.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void take(const Place& place, const TraceEvent& event) = 0;
};

// Assembles events and passes them to all sinks, which must outlive it.
class TraceEvents : public Visitor {
 public:
  explicit TraceEvents(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}
  void value(const Place& place, const Scalar& value) override;
  void closed(const Place& place) override;
  bool seen() const { return seen_; }  // an event

 private:
  std::vector<EventSink*> sinks_;
  TraceEvent event_;
  bool seen_ = false;
};

}  // namespace chexbench::verbs::foreign
