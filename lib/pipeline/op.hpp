// What an op is. As in tf.data, an op describes, and an iterator runs: repeat makes a fresh iterator for each epoch, so
// no op needs to know how to rewind, and destroying an iterator at any moment ends its threads.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "core/thread_pool.hpp"
#include "pipeline/bad_streak.hpp"
#include "pipeline/element.hpp"
#include "pipeline/op_stats.hpp"
#include "pipeline/pipeline.hpp"

namespace chexbench::pipeline {

// What the ops of one pipeline share. Outlives them.
class Resources {
 public:
  explicit Resources(const PipelineContext& pipeline_context);

  const PipelineContext context;
  std::shared_ptr<BatchPool> batches;  // made when all ops are known: its capacity depends on them
  std::shared_ptr<ExamplePool> examples;

  std::size_t cores() const { return context.cores.empty() ? 1 : context.cores.size(); }
  // One worker a core, started when first asked for. For the one op of a list that decodes: not thread-safe.
  ThreadPool& workers();

 private:
  std::unique_ptr<ThreadPool> workers_;
};

// Elements that a cache keeps: a record by its file and offset, an image by its number and 0.
using KeptElements = std::set<std::pair<std::uint32_t, std::uint64_t>>;

class Op;

// What an op is built from.
struct OpSetup {
  const spec::OpSpec& spec;
  std::size_t index = 0;                             // in the list
  spec::ElementKind kind = spec::ElementKind::none;  // of what it gives
  bool sharded = false;                              // a shard stands before it
  Op* input = nullptr;                               // null for a source
  Resources& resources;
};

// One pass over an op's elements. One caller thread.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // The next element; false at the end, or once stopped. @throws what the op or one before it threw; it has then ended
  bool next(Element& out);

 protected:
  // Who sleeps the op's delay_s: next(), or the op itself in its own threads by calling op_.delay().
  enum class Delay { in_next, in_threads };
  Iterator(Op& op, std::stop_token stop, Delay delay = Delay::in_next);
  virtual bool produce(Element& out) = 0;

  Op& op_;
  const std::stop_token stop_;

 private:
  const bool delay_in_next_;
};

class Op {
 public:
  explicit Op(const OpSetup& setup);
  virtual ~Op() = default;
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  // A fresh pass, of which at most one exists at a time. Everything in it ends soon after `stop`.
  virtual std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) = 0;

  // A cache behind keeps these images, for later passes: whoever decodes leaves them out. Ops that count or number
  // their elements do not pass it on. `kept` outlives the op's iterators.
  virtual void leave_out(const KeptElements& /*kept*/) {}

  // Elements in one pass, for the forecast; may be infinite.
  virtual double expected_elements() const { return input_->expected_elements(); }
  // Elements of its own kind that it holds when full, for the forecast and the size of the batch pool. The second is
  // what it may grow to.
  virtual double held_elements() const { return 0; }
  virtual double most_held_elements() const { return held_elements(); }
  // What it holds while whoever is behind it takes every element at once; for the forecast.
  virtual double starved_elements() const { return held_elements(); }
  // Bytes of copies that it keeps besides elements, when full; for the forecast.
  virtual double copied_bytes() const { return 0; }
  // Threads of it that decode, each with buffers of its own; for the forecast.
  virtual std::size_t decoding_threads() const { return 0; }

  // Sleeps the planted bottleneck, if there is one, or until stopped. The sleep counts as what the caller is booked as.
  void delay(const std::stop_token& stop) const;

  const std::string& name() const { return name_; }
  std::size_t index() const { return index_; }
  spec::ElementKind kind() const { return kind_; }
  OpStats& stats() { return stats_; }
  const OpStats& stats() const { return stats_; }
  const PipelineContext& context() const { return resources_.context; }
  Resources& resources() { return resources_; }
  bool skips_bad_records() const { return context().data.on_bad_record == spec::OnBadRecord::skip; }
  // Of the records that it reads, and of those that it decodes: one op may do both.
  BadStreak& reading() { return reading_; }
  BadStreak& decoding() { return decoding_; }
  std::size_t image_bytes() const { return context().shape.image_bytes(); }

  // Counts an element that the op keeps for a while, or (sign -1) no longer keeps.
  void hold(const Element& element, int sign = 1);

 protected:
  Op* const input_;
  Resources& resources_;

 private:
  const std::string name_;
  const std::size_t index_;
  const spec::ElementKind kind_;
  const double delay_s_;
  OpStats stats_;
  BadStreak reading_{*this};
  BadStreak decoding_{*this};
};

}  // namespace chexbench::pipeline
