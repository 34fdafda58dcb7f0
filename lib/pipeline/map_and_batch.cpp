// The op map_and_batch: decodes records in parallel, each directly into its slot of a batch. parallel_batches limits
// the number of batches in progress, like tf.data's num_parallel_batches.
#include "pipeline/batch_work.hpp"
#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

class MapAndBatch final : public Op {
 public:
  explicit MapAndBatch(const OpSetup& setup)
      : Op(setup),
        work_{.batches = batches_in_work(*this, static_cast<std::size_t>(setup.spec.integer("parallel_batches"))),
              .records_at_once = 1,
              .drop_remainder = setup.spec.boolean("drop_remainder")},
        loaders_(*this, resources_.cores()) {
    stats().queue_capacity.set(static_cast<std::int64_t>(work_.batches));
  }

  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    const auto make_take = [this, epoch](const std::stop_token& inner_stop) {
      return [input = std::shared_ptr(input_->iterate(epoch, inner_stop))](Element& record) {
        return input->next(record);
      };
    };
    return std::make_unique<BatchWorkIterator>(*this, make_take, work_, loaders_, resources_.workers(), stop);
  }
  double expected_elements() const override { return input_->expected_elements() / context().shape.images; }
  std::size_t decoding_threads() const override { return loaders_.size(); }
  double held_elements() const override { return static_cast<double>(work_.batches); }
  double starved_elements() const override {
    return static_cast<double>(batches_in_making(work_, loaders_.size(), context().shape.images));
  }

 private:
  const BatchWork work_;
  LoaderSet loaders_;
};

}  // namespace

std::unique_ptr<Op> make_map_and_batch(const OpSetup& setup) { return std::make_unique<MapAndBatch>(setup); }

}  // namespace chexbench::pipeline
