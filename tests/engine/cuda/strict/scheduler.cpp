#include "scheduler.hpp"

#include <algorithm>
#include <utility>

namespace strict {
namespace {

constexpr std::size_t kChangeFavourite = 12;  // one in so many steps

void append(Stream& stream, Node node) {
  GraphBody& body = stream.capture->body;
  node.after = stream.after;
  stream.after = {static_cast<int>(body.size())};
  body.push_back(std::move(node));
}

}  // namespace

Stream& Scheduler::new_stream(int priority) { return streams_.emplace_back(Stream{.priority = priority}); }
Event& Scheduler::new_event() { return events_.emplace_back(); }

void Scheduler::enqueue(Stream& stream, Work work, std::function<bool()> may_run) {
  if (stream.capture) return append(stream, {.work = std::move(work)});
  stream.queue.push_back({.work = std::move(work), .may_run = std::move(may_run)});
  if (in_order_) run_until([&] { return stream.queue.empty(); });
}

void Scheduler::pass(Event& event, std::uint64_t version) {
  event.completed = std::max(event.completed, version);
  event.at_ms = now_ms_;
}

void Scheduler::record(Stream& stream, Event& event) {
  event.capture = stream.capture;
  event.after = stream.after;
  if (stream.capture) return;  // an edge of the graph
  const std::uint64_t version = ++event.recorded;
  enqueue(stream, [this, &event, version] { pass(event, version); });
}

void Scheduler::record_external(Stream& stream, Event& event) {
  append(stream, {.work = [] {}, .records = &event});
}

void Scheduler::launch(Stream& stream, const std::shared_ptr<const GraphBody>& body) {
  const auto launch = std::make_shared<Stream::Launch>();
  launch->body = body;
  launch->done.resize(body->size());
  launch->left = body->size();
  for (const Node& node : *body) launch->versions.push_back(node.records != nullptr ? ++node.records->recorded : 0);
  stream.queue.push_back({.work = [] {}, .launch = launch});
  if (in_order_) run_until([&] { return stream.queue.empty(); });
}

bool Scheduler::is_idle() const {
  return std::ranges::all_of(streams_, [](const Stream& stream) { return stream.queue.empty(); });
}

// Runs any node whose predecessors are done: in order the first, otherwise a random one.
void Scheduler::run_node(Stream::Launch& launch) {
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < launch.body->size(); ++i) {
    const Node& node = (*launch.body)[i];
    if (launch.done[i]) continue;
    if (std::ranges::all_of(node.after, [&](int other) { return launch.done[static_cast<std::size_t>(other)]; }))
      ready.push_back(i);
  }
  const std::size_t chosen = ready[in_order_ ? 0 : below(ready.size())];
  const Node& node = (*launch.body)[chosen];
  node.work();
  if (node.records != nullptr) pass(*node.records, launch.versions[chosen]);
  launch.done[chosen] = true;
  --launch.left;
}

bool Scheduler::step() {
  if (has_failed()) return false;
  std::vector<Stream*> ready;
  for (Stream& stream : streams_) {
    if (!stream.queue.empty() && stream.queue.front().may_run()) ready.push_back(&stream);
  }
  if (ready.empty()) return false;
  if (std::ranges::find(ready, favourite_) == ready.end() || below(kChangeFavourite) == 0)
    favourite_ = ready[below(ready.size())];
  now_ms_ += 0.01;
  ++executed_;
  if (has_failed()) return false;
  before_each_();
  Stream::Operation& next = favourite_->queue.front();
  if (next.launch && next.launch->left > 0) {
    run_node(*next.launch);
    if (next.launch->left > 0) return true;
  } else {
    next.work();
  }
  favourite_->queue.pop_front();
  return true;
}

bool Scheduler::run_until(const std::function<bool()>& done) {
  while (!done()) {
    if (!step()) return false;
  }
  return true;
}

void Scheduler::run_some() {
  for (std::size_t left = below(40); left > 0 && step(); --left) {
  }
}

}  // namespace strict
