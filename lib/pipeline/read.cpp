// The op read: delivers the records of one file after the other.
#include "pipeline/ops.hpp"
#include "pipeline/record_stream.hpp"

namespace chexbench::pipeline {
namespace {

class ReadIterator final : public Iterator {
 public:
  ReadIterator(Op& op, std::unique_ptr<Iterator> files, std::stop_token stop)
      : Iterator(op, std::move(stop)), records_(op, std::move(files), stop_) {}

 private:
  bool produce(Element& out) override { return records_.next(out); }

  RecordsOfFiles records_;
};

class Read final : public Op {
 public:
  using Op::Op;
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    return std::make_unique<ReadIterator>(*this, input_->iterate(epoch, stop), stop);
  }
  double expected_elements() const override { return expected_records(*input_); }
};

}  // namespace

std::unique_ptr<Op> make_read(const OpSetup& setup) { return std::make_unique<Read>(setup); }

}  // namespace chexbench::pipeline
