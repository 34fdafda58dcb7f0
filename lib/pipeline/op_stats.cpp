#include "pipeline/op_stats.hpp"

#include "core/clock.hpp"
#include "measure/trace.hpp"

namespace chexbench::pipeline {

thread_local TimeScope* TimeScope::innermost_ = nullptr;

measure::OpCounters OpStats::snapshot(const std::string& op) const {
  return {.op = op,
          .elements_out = elements_out.value(),
          .images_decoded = images_decoded.value(),
          .bytes_read = bytes_read.value(),
          .busy_wall_s = busy_wall.seconds(),
          .busy_cpu_s = busy_cpu.seconds(),
          .blocked_input_s = blocked_input.seconds(),
          .blocked_output_s = blocked_output.seconds(),
          .queue_depth_sum = static_cast<double>(queue_depth_sum.value()),
          .queue_capacity = queue_capacity.value(),
          .queue_depth = queue_depth.value(),
          .bytes_held = bytes_held.value(),
          .images_held = images_held.value(),
          .read_s = read.seconds(),
          .parse_s = parse.seconds(),
          .decode_s = decode.seconds(),
          .resize_s = resize.seconds(),
          .bad_records = bad_records.value()};
}

TimeScope::Sample TimeScope::sample() { return {now_s(), thread_cpu_s()}; }

TimeScope::TimeScope(OpStats& stats, Book book)
    : stats_(stats),
      book_(book),
      outer_(innermost_),
      start_(stats.timed ? sample() : Sample{}),
      charged_until_(start_) {
  if (!stats.timed) return;
  if (outer_ != nullptr) outer_->charge(start_);
  innermost_ = this;
}

TimeScope::~TimeScope() {
  if (!stats_.timed) return;
  const Sample now = sample();
  charge(now);
  if (measure::is_tracing()) trace(now);
  innermost_ = outer_;
  if (outer_ == nullptr) return;
  outer_->charged_until_ = now;
  if (book_ == Book::input) outer_->stats_.blocked_input.add(now.wall_s - start_.wall_s);
}

void TimeScope::charge(const Sample& now) {
  const double wall_s = now.wall_s - charged_until_.wall_s;
  if (book_ == Book::busy || book_ == Book::input) {
    stats_.busy_wall.add(wall_s);
    stats_.busy_cpu.add(now.cpu_s - charged_until_.cpu_s);
  } else if (book_ == Book::blocked_input) {
    stats_.blocked_input.add(wall_s);
  } else if (book_ == Book::blocked_output) {
    stats_.blocked_output.add(wall_s);
  }
}

void TimeScope::trace(const Sample& now) const {
  measure::SpanKind kind = measure::SpanKind::op;
  if (book_ == Book::blocked_input) kind = measure::SpanKind::waits_for_input;
  if (book_ == Book::blocked_output) kind = measure::SpanKind::waits_for_room;
  if (book_ == Book::nothing) kind = measure::SpanKind::waits_for_result;
  measure::record_span({.name = stats_.traced_name,
                        .kind = kind,
                        .begin_s = start_.wall_s,
                        .end_s = now.wall_s,
                        .detail = stats_.index});
}

void book_part(const OpStats& stats, TimeSum& sum, const char* part, TimeSpan time) {
  sum.add(time.end_s - time.begin_s);
  if (stats.timed && measure::is_tracing()) {
    measure::record_span({.name = part,
                          .kind = measure::SpanKind::part,
                          .begin_s = time.begin_s,
                          .end_s = time.end_s,
                          .detail = stats.index});
  }
}

}  // namespace chexbench::pipeline
