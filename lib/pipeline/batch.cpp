// The op batch: copies examples into a batch, in the thread that calls next().
#include <cstring>

#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

class BatchIterator final : public Iterator {
 public:
  BatchIterator(Op& op, std::unique_ptr<Iterator> input, bool drop_remainder, std::stop_token stop)
      : Iterator(op, std::move(stop)), input_(std::move(input)), drop_remainder_(drop_remainder) {}

 private:
  bool produce(Element& out) override {
    BatchLease batch = acquire();
    if (!batch) return false;
    Element element;
    while (batch->valid < batch->shape.images && input_->next(element)) {
      add(std::get<Example>(element.value), *batch);
      op_.stats().images_held.set(batch->valid);
    }
    op_.stats().images_held.set(0);
    op_.stats().bytes_held.set(0);
    const bool full = batch->valid == batch->shape.images;
    if (!full && (stop_.stop_requested() || drop_remainder_ || batch->valid == 0)) return false;
    out.epoch = batch->ids.front().epoch;
    out.value = std::move(batch);
    return true;
  }

  BatchLease acquire() {
    const TimeScope wait(op_.stats(), TimeScope::Book::blocked_output);
    BatchLease batch = op_.resources().batches->acquire(stop_);
    if (batch) op_.stats().bytes_held.set(static_cast<std::int64_t>(batch->shape.bytes()));
    return batch;
  }

  static void add(const Example& example, Batch& batch) {
    const int slot = batch.valid++;
    std::memcpy(batch.image(slot), example.image.get(), batch.shape.image_bytes());
    expand_labels(example.labels, batch.label(slot));
    batch.ids[static_cast<std::size_t>(slot)] = example.id;
  }

  const std::unique_ptr<Iterator> input_;
  const bool drop_remainder_;
};

class BatchOp final : public Op {
 public:
  explicit BatchOp(const OpSetup& setup) : Op(setup), drop_remainder_(setup.spec.boolean("drop_remainder")) {}
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    return std::make_unique<BatchIterator>(*this, input_->iterate(epoch, stop), drop_remainder_, stop);
  }
  double expected_elements() const override { return input_->expected_elements() / context().shape.images; }
  double held_elements() const override { return 1; }

 private:
  const bool drop_remainder_;
};

}  // namespace

std::unique_ptr<Op> make_batch(const OpSetup& setup) { return std::make_unique<BatchOp>(setup); }

}  // namespace chexbench::pipeline
