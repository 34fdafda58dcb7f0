// The base classes of all ops. As in tf.data, an op describes a stage and an iterator runs it: repeat makes a fresh
// iterator for each epoch, so no op needs to rewind, and destroying an iterator at any moment ends its threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "pipeline/element.hpp"
#include "pipeline/op_stats.hpp"
#include "pipeline/pipeline.hpp"
#include "storage/block_pool.hpp"

namespace chexbench::pipeline {

// What the ops of one pipeline share. It must outlive them.
class Resources {
 public:
  explicit Resources(const PipelineContext& pipeline_context);

  const PipelineContext context;
  std::shared_ptr<BatchPool> batches;  // null until all ops are built: its capacity depends on them
  std::shared_ptr<ExamplePool> examples;
  // The memory of files that one op reads whole and another decodes.
  const std::shared_ptr<storage::BlockPool> file_blocks = std::make_shared<storage::BlockPool>();

  std::size_t cores() const { return context.cores.empty() ? 1 : context.cores.size(); }
  // A pool with one worker per core, or more if `threads` is more, started at the first call. Not thread-safe: only the
  // one op of a list that decodes may call it. @throws std::system_error if the system does not start a thread
  ThreadPool& workers(std::size_t threads = 1);

 private:
  std::unique_ptr<ThreadPool> workers_;
};

// The elements in a cache. A record is identified by its file and offset, a decoded image by its index in
// Dataset::images and 0.
using KeptElements = std::set<std::pair<std::uint32_t, std::uint64_t>>;

class Op;

// Counts how many records in a row were bad in one stage (reading or decoding) of an op. Without this limit, an op that
// skips every record would work forever if an endless repeat follows it. Thread-safe.
class BadStreak {
 public:
  explicit BadStreak(Op& op) : op_(op) {}

  // Reports that a record was good, which ends the streak.
  void good() { in_a_row_.store(0, std::memory_order_relaxed); }
  // Reports that a record was bad for the reason in `error`. If the spec says to skip bad records, counts it and
  // returns.
  // @throws DataError if the spec says to stop (then it is `error`), or if the streak is as long as two epochs: if even
  // one record is good, fewer than two epochs of bad records lie between its uses, even if the order changes
  void bad(const DataError& error);

 private:
  Op& op_;
  std::atomic<std::size_t> in_a_row_ = 0;
};

// The inputs of an op's constructor. `spec` is used only while the op is constructed; `input` and `resources` must
// outlive it.
struct OpSetup {
  const spec::OpSpec& spec;
  std::size_t index = 0;                             // in the op list
  spec::ElementKind kind = spec::ElementKind::none;  // of the elements that the op delivers
  bool sharded = false;                              // an earlier op of the list is a shard
  Op* input = nullptr;                               // the op before it; null for a source
  Resources& resources;
};

// One pass over an op's elements. Only one thread at a time may call next(). The op must outlive it.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // Waits for the next element and moves it into `out`. Returns false at the end and once stopped. Books time, delay_s
  // and the count of elements to the op.
  // @throws the error of this op or of an earlier one; the caller must treat the pass as over then
  bool next(Element& out);

 protected:
  // Where the op's delay_s is slept: in next(), or in the op's own threads, which then call op_.delay() themselves.
  enum class Delay { in_next, in_threads };
  Iterator(Op& op, std::stop_token stop, Delay delay = Delay::in_next);
  // Does the work of next(), with the same contract.
  virtual bool produce(Element& out) = 0;

  Op& op_;
  const std::stop_token stop_;

 private:
  const bool delay_in_next_;
};

// One stage of a pipeline. It owns everything that outlives an epoch: counters, decoders and their buffers, a filled
// cache. iterate() and leave_out() are for one thread; counters may be read by any.
class Op {
 public:
  explicit Op(const OpSetup& setup);
  virtual ~Op() = default;
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  // Starts a pass over the elements of `epoch` and returns it. At most one pass of an op may exist at a time. After
  // `stop` is requested, every wait in the pass ends soon.
  // @throws DataError if the decoder that the spec asks for is missing
  // @throws OutputError if a cache cannot create its file
  // @throws std::system_error if the system does not start a thread
  virtual std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) = 0;

  // Called when a cache after this op keeps these images: in later passes the decoding op skips them. Ops whose result
  // depends on the number or position of their elements do not pass this on to their input. `kept` must outlive the
  // op's iterators.
  virtual void leave_out(const KeptElements& /*kept*/) {}

  // The functions up to decoding_threads() are estimates for the memory forecast.
  // The number of elements in one pass; may be infinite.
  virtual double expected_elements() const { return input_->expected_elements(); }
  // How many of its elements the op holds when its buffers are full.
  virtual double held_elements() const { return 0; }
  // How many it holds after its buffers have grown as far as they may. The batch pool is sized by this.
  virtual double most_held_elements() const { return held_elements(); }
  // How many it holds while the consumer takes every element as soon as it is ready.
  virtual double starved_elements() const { return held_elements(); }
  // The bytes of copies that it keeps in memory besides elements, when full.
  virtual double copied_bytes() const { return 0; }
  // The number of its threads that decode, each with its own buffers.
  virtual std::size_t decoding_threads() const { return 0; }

  // Sleeps for delay_s, the bottleneck that the spec plants in this op, or until stopped. The time is booked like the
  // rest of the calling thread's TimeScope. Thread-safe.
  void delay(const std::stop_token& stop) const;

  const std::string& name() const { return name_; }
  // The op's place, for messages: "pipeline[2] of 'optimized'", as in messages about specs.
  std::string place() const;
  std::size_t index() const { return index_; }
  spec::ElementKind kind() const { return kind_; }
  OpStats& stats() { return stats_; }
  const OpStats& stats() const { return stats_; }
  const PipelineContext& context() const { return resources_.context; }
  Resources& resources() { return resources_; }
  bool skips_bad_records() const { return context().data.on_bad_record == spec::OnBadRecord::skip; }
  // Records that this op and those before it could not read or decode, in all passes.
  std::uint64_t bad_records() const;
  // The streaks of bad records: one for records that it reads, one for records that it decodes, because one op may do
  // both.
  BadStreak& reading() { return reading_; }
  BadStreak& decoding() { return decoding_; }
  std::size_t image_bytes() const { return context().shape.image_bytes(); }

  // Adds `element` to the op's counters of held elements, or subtracts it (`sign` = -1). Thread-safe.
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

// For messages: "40 images of split 'train' of /data/nih".
std::string images_of_split(const PipelineContext& context);
// For messages about bad records: the command that lists them.
std::string bad_records_hint(const PipelineContext& context);

}  // namespace chexbench::pipeline
