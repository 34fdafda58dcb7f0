// The op repeat: starts its input again at the end, each time with the next epoch.
#include <fmt/format.h>

#include <limits>

#include "core/errors.hpp"
#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

constexpr std::uint32_t kForever = std::numeric_limits<std::uint32_t>::max();

class RepeatIterator final : public Iterator {
 public:
  RepeatIterator(Op& op, Op& input, std::uint32_t first_epoch, std::uint32_t epochs, std::stop_token stop)
      : Iterator(op, std::move(stop)), input_op_(input), first_epoch_(first_epoch), epochs_(epochs) {}

 private:
  bool produce(Element& out) override {
    while (done_ < epochs_ && !stop_.stop_requested()) {
      if (!input_) input_ = input_op_.iterate(first_epoch_ + done_, stop_);
      if (input_->next(out)) {
        empty_ = false;
        return true;
      }
      if (stop_.stop_requested()) return false;
      input_.reset();  // before the next pass is made, because at most one pass of an op may exist
      if (empty_) throw_empty();
      empty_ = true;
      ++done_;
    }
    return false;
  }

  [[noreturn]] void throw_empty() const {
    const PipelineContext& context = op_.context();
    const std::uint64_t bad = op_.bad_records();
    const std::string reason =
        bad > 0 ? fmt::format("{} records could not be read so far; {}", bad, bad_records_hint(context))
                : "it has fewer images than one batch; use a smaller training.batch_size or fewer ranks";
    throw DataError(fmt::format("a whole epoch of the {} gave rank {} nothing to repeat ({}): {}",
                                images_of_split(context), context.rank, op_.place(), reason));
  }

  Op& input_op_;
  const std::uint32_t first_epoch_;
  const std::uint32_t epochs_;
  std::uint32_t done_ = 0;
  bool empty_ = true;
  std::unique_ptr<Iterator> input_;
};

class Repeat final : public Op {
 public:
  explicit Repeat(const OpSetup& setup)
      : Op(setup),
        epochs_(setup.spec.holds_text("epochs") ? kForever : static_cast<std::uint32_t>(setup.spec.integer("epochs"))) {
  }
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    // Inside an outer repeat, the passes of k epochs continue each other: 0..k-1, k..2k-1. An endless repeat never has
    // a second pass.
    return std::make_unique<RepeatIterator>(*this, *input_, epochs_ == kForever ? epoch : epoch * epochs_, epochs_,
                                            std::move(stop));
  }
  double expected_elements() const override {
    return epochs_ == kForever ? std::numeric_limits<double>::infinity() : epochs_ * input_->expected_elements();
  }

 private:
  const std::uint32_t epochs_;
};

}  // namespace

std::unique_ptr<Op> make_repeat(const OpSetup& setup) { return std::make_unique<Repeat>(setup); }

}  // namespace chexbench::pipeline
