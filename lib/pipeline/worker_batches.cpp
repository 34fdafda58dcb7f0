// The op worker_batches: as in PyTorch's DataLoader, each worker builds whole batches alone, prefetch_factor of them
// ahead. The records of a shard are taken in their order. With a repeat after it, epochs work as in the DataLoader:
// nothing is loaded ahead across the end of an epoch, and workers that are not persistent are restarted.
#include "pipeline/batch_work.hpp"
#include "pipeline/ops.hpp"
#include "pipeline/record_stream.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline {
namespace {

class WorkerBatches final : public Op {
 public:
  explicit WorkerBatches(const OpSetup& setup)
      : Op(setup),
        workers_(setup.spec.holds_text("num_workers") ? resources_.cores()
                                                      : static_cast<std::size_t>(setup.spec.integer("num_workers"))),
        work_{.batches =
                  batches_in_work(*this, workers_ * static_cast<std::size_t>(setup.spec.integer("prefetch_factor"))),
              .records_at_once = static_cast<std::size_t>(context().shape.images),
              .drop_remainder = true},
        persistent_(setup.spec.boolean("persistent")),
        start_s_(setup.spec.number("start_s")),
        loaders_(*this, workers_) {
    stats().queue_capacity.set(static_cast<std::int64_t>(work_.batches));
  }

  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    if (!pool_ || !persistent_) start_workers(stop);
    const auto make_take = [this, epoch](const std::stop_token& inner_stop) {
      return [records = std::make_shared<RecordsOfFiles>(*this, input_->iterate(epoch, inner_stop), inner_stop)](
                 Element& record) { return records->next(record); };
    };
    return std::make_unique<BatchWorkIterator>(*this, make_take, work_, loaders_, *pool_, stop);
  }
  double expected_elements() const override { return expected_records(*input_) / context().shape.images; }
  std::size_t decoding_threads() const override { return loaders_.size(); }
  double held_elements() const override { return static_cast<double>(work_.batches); }

 private:
  void start_workers(const std::stop_token& stop) {
    const TimeScope starting(stats(), TimeScope::Book::busy);
    pool_.reset();  // the earlier workers end first
    pool_ = make_worker_pool("worker", context().cores, workers_);
    pause(start_s_, stop);
  }

  const std::size_t workers_;
  const BatchWork work_;
  const bool persistent_;
  const double start_s_;
  LoaderSet loaders_;
  std::unique_ptr<ThreadPool> pool_;  // not the rank's pool, because num_workers may differ from the rank's cores
};

}  // namespace

std::unique_ptr<Op> make_worker_batches(const OpSetup& setup) { return std::make_unique<WorkerBatches>(setup); }

}  // namespace chexbench::pipeline
