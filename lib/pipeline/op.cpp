#include "pipeline/op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "measure/trace.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline {

Resources::Resources(const PipelineContext& pipeline_context)
    : context(pipeline_context), examples(std::make_shared<ExamplePool>(pipeline_context.shape.image_bytes())) {}

ThreadPool& Resources::workers(std::size_t threads) {
  if (!workers_) workers_ = make_worker_pool("decode", context.cores, std::max(cores(), threads));
  return *workers_;
}

Iterator::Iterator(Op& op, std::stop_token stop, Delay delay)
    : op_(op), stop_(std::move(stop)), delay_in_next_(delay == Delay::in_next) {}

bool Iterator::next(Element& out) {
  const TimeScope scope(op_.stats(), TimeScope::Book::input);
  if (stop_.stop_requested() || !produce(out)) return false;
  if (delay_in_next_) op_.delay(stop_);
  op_.stats().elements_out.add(1);
  return true;
}

Op::Op(const OpSetup& setup)
    : input_(setup.input),
      resources_(setup.resources),
      name_(setup.spec.op),
      index_(setup.index),
      kind_(setup.kind),
      delay_s_(setup.spec.number("delay_s")) {
  stats_.timed = context().timed;
  stats_.traced_name = measure::interned(name_);
  stats_.index = static_cast<std::int64_t>(index_);
}

std::string Op::place() const { return spec::place_of(context().pipeline, index_); }

std::uint64_t Op::bad_records() const {
  const auto own = static_cast<std::uint64_t>(stats_.bad_records.value());
  return own + (input_ == nullptr ? 0 : input_->bad_records());
}

void Op::delay(const std::stop_token& stop) const { pause(delay_s_, stop); }

void Op::hold(const Element& element, int sign) {
  stats_.images_held.add(sign * element.images());
  stats_.bytes_held.add(sign * element.held_bytes(image_bytes()));
}

std::string images_of_split(const PipelineContext& context) {
  return fmt::format("{} images of split '{}' of {}", context.dataset.images.size(), to_string(context.data.split),
                     context.data.root);
}

std::string bad_records_hint(const PipelineContext& context) {
  return fmt::format("`chexbench data check {}` says what is wrong with them", shell_word(context.data.root));
}

void BadStreak::bad(const DataError& error) {
  if (!op_.skips_bad_records()) throw error;
  op_.stats().bad_records.add(1);
  const std::size_t bad = in_a_row_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::size_t images = op_.context().dataset.images.size();
  if (bad < 2 * images) return;
  throw DataError(
      fmt::format("none of the {} can be read: {} ({}) met {} bad records in a row on rank {}; {}; the last one: {}",
                  images_of_split(op_.context()), op_.name(), op_.place(), bad, op_.context().rank,
                  bad_records_hint(op_.context()), error.what()));
}

}  // namespace chexbench::pipeline
