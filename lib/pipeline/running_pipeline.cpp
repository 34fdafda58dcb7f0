// make_pipeline(): builds the ops and runs the iterator of the last one.
#include "pipeline/builder.hpp"
#include "pipeline/synthetic.hpp"

namespace chexbench::pipeline {
namespace {

class RunningPipeline final : public Pipeline {
 public:
  explicit RunningPipeline(const PipelineContext& context) : resources_(context), ops_(build_ops(resources_)) {
    resources_.batches = BatchPool::create(context.shape, batches_in_use(ops_), context.allocator);
    iterator_ = ops_.back()->iterate(0, stop_.get_token());
  }
  ~RunningPipeline() override { stop_.request_stop(); }

  BatchLease next() override {
    try {
      Element element;
      if (!iterator_->next(element) || stop_.stop_requested()) return {};
      return std::move(std::get<BatchLease>(element.value));
    } catch (...) {
      stop_.request_stop();
      throw;
    }
  }

  void stop() override { stop_.request_stop(); }

  std::vector<measure::OpCounters> counters() const override {
    std::vector<measure::OpCounters> all;
    all.reserve(ops_.size());
    for (const auto& op : ops_) all.push_back(op->stats().snapshot(op->name()));
    return all;
  }

 private:
  std::stop_source stop_;
  Resources resources_;
  std::vector<std::unique_ptr<Op>> ops_;
  std::unique_ptr<Iterator> iterator_;  // last, so it is destroyed first: its threads use the members above
};

}  // namespace

std::unique_ptr<Pipeline> make_pipeline(const PipelineContext& context) {
  if (context.data.format == spec::DataFormat::synthetic) return make_synthetic_pipeline(context);
  return std::make_unique<RunningPipeline>(context);
}

}  // namespace chexbench::pipeline
