#include "verbs/diagnose/foreign/trace_events.hpp"

#include <fmt/format.h>

#include <cmath>

namespace chexbench::verbs::foreign {
namespace {

constexpr std::size_t kMostIdBytes = 200;   // kept of the name of a process or thread
constexpr double kMostMicroseconds = 1e17;  // since 1970: some millennia

// Returns the level of the list of events if `place` is in an event: one less than that of an event's keys.
bool in_event(const Place& place, std::size_t depth) {
  if (place.depth() == depth) return place.depth() >= 1 && place.in_list(0);
  return place.depth() == depth + 1 && place.in_list(1) && place.key(0) == "traceEvents";
}

void set_number(std::optional<double>& to, const Scalar& value) {
  if (const double* number = std::get_if<double>(&value)) to = *number;
}

void set_text(std::string& to, const Scalar& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) to = *text;
}

void set_id(TraceId& to, const Scalar& value) {
  if (const double* number = std::get_if<double>(&value)) to = *number;
  if (const auto* text = std::get_if<std::string_view>(&value)) to = std::string(text->substr(0, kMostIdBytes));
}

}  // namespace

double begin_us(const Place& place, const TraceEvent& event) {
  if (!event.begin_us) place.fail(fmt::format("this {} has no number 'ts', when it began", event.phase));
  if (!(std::abs(*event.begin_us) <= kMostMicroseconds)) {
    place.fail(fmt::format("its ts is {}, which is no time in microseconds", *event.begin_us));
  }
  return *event.begin_us;
}

double end_us(const Place& place, const TraceEvent& event) {
  const double begin = begin_us(place, event);
  if (!event.duration_us) place.fail("it has no number 'dur', how long it took");
  if (!(*event.duration_us >= 0 && *event.duration_us <= kMostMicroseconds)) {
    place.fail(fmt::format("its dur is {}, and nothing takes so long", *event.duration_us));
  }
  return begin + *event.duration_us;
}

void TraceEvents::value(const Place& place, const Scalar& value) {
  if (!in_event(place, 2)) return;
  const std::string& key = place.key(place.depth() - 1);
  if (key == "name") {
    set_text(event_.name, value);
  } else if (key == "ph") {
    set_text(event_.phase, value);
  } else if (key == "cat") {
    set_text(event_.category, value);
  } else if (key == "ts") {
    set_number(event_.begin_us, value);
  } else if (key == "dur") {
    set_number(event_.duration_us, value);
  } else if (key == "pid") {
    set_id(event_.process, value);
  } else if (key == "tid") {
    set_id(event_.thread, value);
  }
}

void TraceEvents::closed(const Place& place) {
  if (!in_event(place, 1)) return;
  if (!event_.phase.empty()) {
    seen_ = true;
    for (EventSink* const sink : sinks_) sink->take(place, event_);
  }
  event_ = {};
}

}  // namespace chexbench::verbs::foreign
