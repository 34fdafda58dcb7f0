// The ops that begin a pipeline: list_files delivers the files of the split in the order of their names, and read the
// records of one file after the other.
#include "pipeline/ops.hpp"
#include "pipeline/record_stream.hpp"

namespace chexbench::pipeline {
namespace {

class ListFilesIterator final : public Iterator {
 public:
  ListFilesIterator(Op& op, std::uint32_t epoch, std::stop_token stop)
      : Iterator(op, std::move(stop)), epoch_(epoch), files_(op.context().dataset.files()) {}

 private:
  bool produce(Element& out) override {
    if (next_ == files_) return false;
    out.epoch = epoch_;
    out.value = FileRef{static_cast<std::uint32_t>(next_++)};
    return true;
  }

  const std::uint32_t epoch_;
  const std::size_t files_;
  std::size_t next_ = 0;
};

class ListFiles final : public Op {
 public:
  using Op::Op;
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    return std::make_unique<ListFilesIterator>(*this, epoch, std::move(stop));
  }
  double expected_elements() const override { return static_cast<double>(context().dataset.files()); }
};

}  // namespace

std::unique_ptr<Op> make_list_files(const OpSetup& setup) { return std::make_unique<ListFiles>(setup); }

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
