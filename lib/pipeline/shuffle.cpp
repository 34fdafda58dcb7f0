// The op shuffle: tf.data's reservoir. It fills a buffer, delivers an element drawn uniformly from it, and refills it
// from the input; at the end of the input, it draws until the buffer is empty.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/random.hpp"
#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

class ShuffleIterator final : public Iterator {
 public:
  ShuffleIterator(Op& op, std::unique_ptr<Iterator> input, std::size_t buffer, std::uint64_t seed, std::stop_token stop)
      : Iterator(op, std::move(stop)), input_(std::move(input)), capacity_(buffer), random_(seed) {}

  ~ShuffleIterator() override {
    for (const Element& element : buffer_) op_.hold(element, -1);
    op_.stats().queue_depth.set(0);
  }

 private:
  bool produce(Element& out) override {
    fill();
    if (buffer_.empty()) return false;
    op_.stats().queue_depth_sum.add(static_cast<std::int64_t>(buffer_.size()));
    std::swap(buffer_[random_.below(buffer_.size())], buffer_.back());
    out = std::move(buffer_.back());
    buffer_.pop_back();
    op_.hold(out, -1);
    op_.stats().queue_depth.set(static_cast<std::int64_t>(buffer_.size()));
    return true;
  }

  void fill() {
    while (!ended_ && buffer_.size() < capacity_) {
      Element element;
      ended_ = !input_->next(element);
      if (ended_) return;
      op_.hold(element);
      buffer_.push_back(std::move(element));
    }
  }

  const std::unique_ptr<Iterator> input_;
  const std::size_t capacity_;
  RandomStream random_;
  std::vector<Element> buffer_;
  bool ended_ = false;
};

class Shuffle final : public Op {
 public:
  explicit Shuffle(const OpSetup& setup)
      : Op(setup),
        buffer_(setup.spec.holds_text("buffer") ? kAll : static_cast<std::size_t>(setup.spec.integer("buffer"))),
        seed_(stream_seed(setup)) {
    if (std::isinf(held_elements())) {
      throw SpecError(
          fmt::format("{}: shuffle: buffer \"all\" can never be full, because what comes before it never "
                      "ends; put it before "
                      "repeat, or give a number",
                      place()));
    }
    if (buffer_ == kAll && kind() == spec::ElementKind::batch) {
      throw SpecError(
          fmt::format("{}: shuffle: buffer \"all\" would hold every batch of an epoch in memory; put "
                      "it before the op that makes batches, or give a number",
                      place()));
    }
    stats().queue_capacity.set(static_cast<std::int64_t>(held_elements()));
  }

  void leave_out(const KeptElements& kept) override { input_->leave_out(kept); }
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    return std::make_unique<ShuffleIterator>(*this, input_->iterate(epoch, stop), buffer_, derive_seed(seed_, epoch),
                                             stop);
  }
  double held_elements() const override {
    const double most = buffer_ == kAll ? std::numeric_limits<double>::infinity() : static_cast<double>(buffer_);
    return std::min(most, input_->expected_elements());
  }
  // Not limited by expected_elements(), which is a mean over ranks and shards: a rank with more elements than that
  // would wait forever for a batch of the pool.
  double most_held_elements() const override {
    return buffer_ == kAll ? held_elements() : static_cast<double>(buffer_);
  }

 private:
  // The rank is part of the seed only after a shard. Before the shard, all ranks must see the same order, or their
  // shares would overlap.
  static std::uint64_t stream_seed(const OpSetup& setup) {
    const PipelineContext& context = setup.resources.context;
    const std::uint64_t seed =
        setup.spec.holds_text("seed") ? context.seed : static_cast<std::uint64_t>(setup.spec.integer("seed"));
    const std::uint64_t of_op = derive_seed(seed, setup.index);
    return setup.sharded ? derive_seed(of_op, static_cast<std::uint64_t>(context.rank)) : of_op;
  }

  const std::size_t buffer_;
  const std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Op> make_shuffle(const OpSetup& setup) { return std::make_unique<Shuffle>(setup); }

}  // namespace chexbench::pipeline
