#include "pipeline/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/errors.hpp"
#include "pipeline/ops.hpp"

namespace chexbench::pipeline {
namespace {

using MakeOp = std::unique_ptr<Op> (*)(const OpSetup&);

const std::map<std::string, MakeOp>& makers() {
#define CHEXBENCH_ROW(op) {#op, make_##op},
  static const std::map<std::string, MakeOp> table = {CHEXBENCH_FOR_EACH_OP(CHEXBENCH_ROW)};
#undef CHEXBENCH_ROW
  return table;
}

}  // namespace

std::vector<std::unique_ptr<Op>> build_ops(Resources& resources) {
  spec::check_kinds(resources.context.pipeline);
  return build_chain(resources);
}

std::vector<std::unique_ptr<Op>> build_chain(Resources& resources) {
  const spec::PipelineSpec& pipeline = resources.context.pipeline;
  std::vector<std::unique_ptr<Op>> ops;
  bool sharded = false;
  spec::ElementKind kind = spec::ElementKind::none;
  for (std::size_t i = 0; i < pipeline.ops.size(); ++i) {
    const spec::OpSpec& op = pipeline.ops[i];
    kind = op.rule().given(kind);
    ops.push_back(makers().at(op.op)({.spec = op,
                                      .index = i,
                                      .kind = kind,
                                      .sharded = sharded,
                                      .input = ops.empty() ? nullptr : ops.back().get(),
                                      .resources = resources}));
    sharded = sharded || op.rule().shards;
  }
  return ops;
}

std::size_t batches_in_use(const std::vector<std::unique_ptr<Op>>& ops) {
  double held = 0;
  for (const auto& op : ops) {
    if (op->kind() == spec::ElementKind::batch) held += std::ceil(op->most_held_elements());
  }
  return static_cast<std::size_t>(held) + kLeasesOut;
}

// make_pipeline(): builds the ops and runs the iterator of the last one.

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
  if (context.data.format == spec::DataFormat::ready) return make_ready_pipeline(context);
  return std::make_unique<RunningPipeline>(context);
}

}  // namespace chexbench::pipeline
