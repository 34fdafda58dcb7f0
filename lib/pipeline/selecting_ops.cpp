// The ops that pass on some of their elements: shard, those whose index modulo the number of ranks is this rank, and
// take, the first `count`.
#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/text.hpp"
#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

class ShardIterator final : public Iterator {
 public:
  ShardIterator(Op& op, std::unique_ptr<Iterator> input, std::stop_token stop)
      : Iterator(op, std::move(stop)),
        input_(std::move(input)),
        rank_(static_cast<std::uint64_t>(op.context().rank)),
        world_(static_cast<std::uint64_t>(op.context().world)) {}

 private:
  bool produce(Element& out) override {
    while (input_->next(out)) {
      if (index_++ % world_ == rank_) return true;
    }
    return false;
  }

  const std::unique_ptr<Iterator> input_;
  const std::uint64_t rank_;
  const std::uint64_t world_;
  std::uint64_t index_ = 0;
};

class Shard final : public Op {
 public:
  explicit Shard(const OpSetup& setup) : Op(setup) {
    const std::size_t files = context().dataset.files();
    if (kind() == spec::ElementKind::file && files < static_cast<std::size_t>(context().world)) {
      throw DataError(
          fmt::format("{}: shard: {} ranks but only {} to share out; use at most {}, or data in more files (chexbench "
                      "data convert --shards N)",
                      place(), context().world, count_text(files, "file"), count_text(files, "rank")));
    }
  }
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    return std::make_unique<ShardIterator>(*this, input_->iterate(epoch, stop), stop);
  }
  double expected_elements() const override { return input_->expected_elements() / context().world; }
};

}  // namespace

std::unique_ptr<Op> make_shard(const OpSetup& setup) { return std::make_unique<Shard>(setup); }

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
