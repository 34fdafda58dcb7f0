// The op map: parses, decodes and resizes records. With parallel_calls = 1 it works in the thread that calls next(),
// one record after another: the plain twin of the parallel form.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "pipeline/image_loader.hpp"
#include "pipeline/ops.hpp"
#include "pipeline/threads.hpp"
#include "pipeline/tunable.hpp"

namespace chexbench::pipeline {
namespace {

// Decodes one record. Returns std::nullopt if the record was bad and is skipped, or if its image is in `left_out`.
std::optional<Element> decode(Op& op, ImageLoader& loader, Element record, const KeptElements* left_out) {
  Example example{.image = op.resources().examples->acquire()};
  try {
    if (left_out != nullptr && left_out->contains({loader.image_of(std::get<Record>(record.value)), 0})) return {};
    const auto loaded = loader.load(std::get<Record>(record.value), record.epoch, example.image.get());
    example.labels = loaded.labels;
    example.id = loaded.id;
    op.decoding().good();
  } catch (const DataError& error) {
    op.decoding().bad(error);
    return {};
  }
  record.value = std::move(example);
  return record;
}

class SerialMapIterator final : public Iterator {
 public:
  SerialMapIterator(Op& op, std::unique_ptr<Iterator> input, ImageLoader& loader, const KeptElements* left_out,
                    std::stop_token stop)
      : Iterator(op, std::move(stop)), input_(std::move(input)), loader_(loader), left_out_(left_out) {}

 private:
  bool produce(Element& out) override {
    Element record;
    while (input_->next(record)) {
      if (std::optional<Element> example = decode(op_, loader_, std::move(record), left_out_)) {
        out = std::move(*example);
        return true;
      }
    }
    return false;
  }

  const std::unique_ptr<Iterator> input_;
  ImageLoader& loader_;
  const KeptElements* const left_out_;
};

struct Calls {
  std::size_t most = 1;
  bool deterministic = true;
  const KeptElements* left_out = nullptr;
};

class ParallelMapIterator final : public Iterator {
 public:
  ParallelMapIterator(Op& op, Op& input, std::uint32_t epoch, const Calls& calls, LoaderSet& loaders,
                      const std::stop_token& stop)
      : Iterator(op, stop, Delay::in_threads),
        deterministic_(calls.deterministic),
        left_out_(calls.left_out),
        loaders_(loaders),
        chain_(stop),
        turnstile_(calls.most, op.stats()),
        input_(input.iterate(epoch, chain_.token())),
        crew_(std::in_place, op.resources().workers(loaders.size()), loaders.size(),
              [this](std::size_t i) { work(i); }) {}

  ~ParallelMapIterator() override {
    chain_.request_stop();
    crew_.reset();
    for (const Call& call : calls_) {
      if (call.result) op_.hold(*call.result, -1);
    }
    op_.stats().queue_depth.set(0);
  }

 private:
  // One record that is being decoded. If it is done and has neither result nor error, the record was skipped.
  struct Call {
    bool done = false;
    std::optional<Element> result;
    std::exception_ptr error;
  };

  bool produce(Element& out) override {
    while (true) {
      Call call;
      if (!next_done(call)) return false;
      turnstile_.release(1);
      if (call.error) std::rethrow_exception(call.error);
      if (!call.result) continue;
      out = std::move(*call.result);
      op_.hold(out, -1);
      return true;
    }
  }

  bool next_done(Call& call) {
    const auto depth = static_cast<std::int64_t>(op_.stats().queue_depth.value());
    const TimeScope wait(op_.stats(), TimeScope::Book::nothing);
    std::unique_lock lock(mutex_);
    auto done = calls_.end();
    done_.wait(lock, stop_, [&] {
      done = deterministic_ ? calls_.begin() : std::ranges::find(calls_, true, &Call::done);
      return (done != calls_.end() && done->done) || (ended_ && calls_.empty());
    });
    if (stop_.stop_requested()) return false;
    if (calls_.empty()) {
      if (input_error_) std::rethrow_exception(std::exchange(input_error_, nullptr));
      return false;
    }
    op_.stats().queue_depth_sum.add(depth);
    op_.stats().queue_depth.add(-1);
    call = std::move(*done);
    calls_.erase(done);
    return true;
  }

  void work(std::size_t worker) {
    const TimeScope scope(op_.stats(), TimeScope::Book::busy);
    while (turnstile_.enter(chain_.token())) {
      Element record;
      Call* call = take(record);
      if (call == nullptr) return;
      finish(*call, worker, std::move(record));
    }
  }

  // Takes the next record and opens its call. Returns null at the end. An error follows the open calls.
  Call* take(Element& record) {
    std::list<Call> call;  // made before the record is taken, because memory may run out
    std::exception_ptr error;
    bool taken = false;
    try {
      call.emplace_back();
      taken = input_->next(record);
    } catch (...) {
      error = std::current_exception();
    }
    Call* const opened = taken ? &call.front() : nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (taken) calls_.splice(calls_.end(), call);
      input_error_ = error;
      ended_ = !taken;
    }
    if (!taken) done_.notify_one();
    turnstile_.leave(taken ? 1 : 0, !taken);
    return opened;
  }

  void finish(Call& call, std::size_t worker, Element record) {
    std::optional<Element> result;
    std::exception_ptr error;
    try {
      result = decode(op_, loaders_.of(worker), std::move(record), left_out_);
      op_.delay(chain_.token());
      if (result) op_.hold(*result);
    } catch (...) {
      error = std::current_exception();
    }
    op_.stats().queue_depth.add(1);
    {
      const std::lock_guard lock(mutex_);
      call.result = std::move(result);
      call.error = error;
      call.done = true;
    }
    done_.notify_one();
  }

  const bool deterministic_;
  const KeptElements* const left_out_;
  LoaderSet& loaders_;
  ChainedStop chain_;
  Turnstile turnstile_;
  const std::unique_ptr<Iterator> input_;
  std::mutex mutex_;
  std::condition_variable_any done_;
  std::list<Call> calls_;  // in the order of the input; a list, because workers keep pointers to its elements
  bool ended_ = false;
  std::exception_ptr input_error_;
  std::optional<Crew> crew_;
};

class Map final : public Op {
 public:
  explicit Map(const OpSetup& setup)
      : Op(setup),
        calls_{value_of(setup, "parallel_calls"), setup.spec.boolean("deterministic")},
        loaders_(*this, thread_per_call(setup) ? calls_.most : std::min(calls_.most, resources_.cores())) {
    stats().queue_capacity.set(calls_.most > 1 ? static_cast<std::int64_t>(calls_.most) : 0);
  }
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    if (calls_.most == 1) {
      return std::make_unique<SerialMapIterator>(*this, input_->iterate(epoch, stop), loaders_.of(0), calls_.left_out,
                                                 stop);
    }
    return std::make_unique<ParallelMapIterator>(*this, *input_, epoch, calls_, loaders_, stop);
  }
  void leave_out(const KeptElements& kept) override { calls_.left_out = &kept; }
  std::size_t decoding_threads() const override { return loaders_.size(); }
  double held_elements() const override {
    return calls_.most == 1 ? 0 : std::min(static_cast<double>(calls_.most), expected_elements());
  }
  double starved_elements() const override {
    return calls_.most == 1 ? 0 : std::min(static_cast<double>(loaders_.size()), expected_elements());
  }

 private:
  // This op reads the files of PNGs and JPEGs, and a call that waits for a server needs no core. So if "auto" finds
  // more calls than keep the cores busy, each has a thread. Below that, more threads would only compete for the cores,
  // and the number found must act as the same number in the spec does: as a limit on calls in progress, as in tf.data.
  bool thread_per_call(const OpSetup& setup) const {
    return setup.spec.holds_text("parallel_calls") && context().dataset.format == spec::DataFormat::images &&
           calls_.most > kCallsPerCore * resources_.cores();
  }

  Calls calls_;
  LoaderSet loaders_;
};

}  // namespace

std::unique_ptr<Op> make_map(const OpSetup& setup) { return std::make_unique<Map>(setup); }

}  // namespace chexbench::pipeline
