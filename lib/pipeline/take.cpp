// The op take: passes on the first `count` elements, then ends.
#include <algorithm>

#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

class TakeIterator final : public Iterator {
 public:
  TakeIterator(Op& op, std::unique_ptr<Iterator> input, std::int64_t count, std::stop_token stop)
      : Iterator(op, std::move(stop)), input_(std::move(input)), left_(count) {}

 private:
  bool produce(Element& out) override { return left_-- > 0 && input_->next(out); }

  const std::unique_ptr<Iterator> input_;
  std::int64_t left_;
};

class Take final : public Op {
 public:
  explicit Take(const OpSetup& setup) : Op(setup), count_(setup.spec.integer("count")) {}
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    return std::make_unique<TakeIterator>(*this, input_->iterate(epoch, stop), count_, stop);
  }
  double expected_elements() const override {
    return std::min(static_cast<double>(count_), input_->expected_elements());
  }

 private:
  const std::int64_t count_;
};

}  // namespace

std::unique_ptr<Op> make_take(const OpSetup& setup) { return std::make_unique<Take>(setup); }

}  // namespace chexbench::pipeline
