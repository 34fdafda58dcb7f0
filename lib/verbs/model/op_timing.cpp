#include "verbs/model/op_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/interrupt.hpp"
#include "core/text.hpp"
#include "engine/engine.hpp"
#include "model/weights.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

const std::string kFormulaSalt = "time-ops";  // of the formula that values come from

double ops_s(const std::vector<engine::OpTime>& ops) {
  return std::accumulate(ops.begin(), ops.end(), 0.0,
                         [](double sum, const engine::OpTime& one) { return sum + one.forward_s + one.backward_s; });
}

std::unique_ptr<engine::Engine> make_engine(const OpTimingRequest& request) {
  engine::EngineConfig config;
  config.model.name = request.model;
  config.model.image_size = request.image_size;
  config.training.batch_size = request.batch_size;
  config.training.precision = request.precision;
  config.cores = usable_cores();
  return engine::make_engine("onednn", config);
}

class Steps {
 public:
  Steps(engine::Engine& engine, const OpTimingRequest& request, Reducer& reducer)
      : engine_(engine),
        reducer_(reducer),
        pool_(BatchPool::create({.images = request.batch_size,
                                 .height = request.image_size,
                                 .width = request.image_size,
                                 .deliver = Deliver::f32},
                                1, engine.allocator())) {
    const BatchLease batch = pool_->acquire({});
    model::fill_formula_signed(kFormulaSalt, "input", batch->f32());
    model::fill_formula_labels(kFormulaSalt, "target", batch->labels);
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      throw_if_interrupted();
      BatchLease batch = pool_->acquire({});
      batch->valid = batch->shape.images;
      engine_.step(std::move(batch), reducer_);
    }
    engine_.finish();
  }

 private:
  engine::Engine& engine_;
  Reducer& reducer_;
  std::shared_ptr<BatchPool> pool_;
};

Json op_to_json(const engine::OpTime& one) {
  return {{"kind", one.kind}, {"ops", one.ops}, {"forward_s", one.forward_s}, {"backward_s", one.backward_s}};
}

}  // namespace

double OpTiming::other_s() const { return step_s - update_s - ops_s(ops); }

OpTiming time_ops(const OpTimingRequest& request) {
  const auto reducer = comm::make_single_reducer();  // must outlive the engine
  const auto engine = make_engine(request);
  Steps steps(*engine, request, *reducer);
  steps.run(request.warmup_steps);
  engine->restart();
  OpTiming timing{.request = request, .device = engine->traits().device, .ops = {}};
  for (int step = 0; step < request.steps; ++step) {
    steps.run(1);
    timing.step_s += engine->timings().wall_s / request.steps;
    timing.update_s += engine->timings().update_s / request.steps;
  }
  timing.ops = engine->op_times();
  for (engine::OpTime& one : timing.ops) {
    one.forward_s /= request.steps;
    one.backward_s /= request.steps;
  }
  std::ranges::stable_sort(timing.ops, std::ranges::greater(),
                           [](const engine::OpTime& one) { return one.forward_s + one.backward_s; });
  return timing;
}

std::string op_timing_table(const OpTiming& timing, const report::LineWidth& width) {
  const OpTimingRequest& request = timing.request;
  const auto ms = [](double time_s) { return fmt::format("{:.1f}", 1e3 * time_s); };
  const auto share = [&timing](double time_s) { return fmt::format("{:.1f} %", 100 * time_s / timing.step_s); };
  report::TextTable table{
      .header = {"op", "ops", "forward ms", "backward ms", "of the step"}, .rows = {}, .left_columns = 1};
  for (const engine::OpTime& one : timing.ops)
    table.rows.push_back({one.kind, std::to_string(one.ops), ms(one.forward_s), ms(one.backward_s),
                          share(one.forward_s + one.backward_s)});
  table.rows.push_back({"update", "", "", ms(timing.update_s), share(timing.update_s)});
  table.rows.push_back({"other", "", "", ms(timing.other_s()), share(timing.other_s())});
  return fmt::format(
      "{} {}x{} {}, batch {}, on {}\nstep: {} ms, {} images/s, mean of {} steps of ready-made batches\n\n{}",
      request.model, request.image_size, request.image_size, to_string(request.precision), request.batch_size,
      timing.device, ms(timing.step_s), rate_text(request.batch_size / timing.step_s), request.steps,
      report::fitted_text(table, width, "--format json"));
}

std::string op_timing_json(const OpTiming& timing) {
  return indented_json({{"chexbench_version", CHEXBENCH_VERSION},
                        {"name", timing.request.model},
                        {"image_size", timing.request.image_size},
                        {"precision", to_string(timing.request.precision)},
                        {"batch_size", timing.request.batch_size},
                        {"steps", timing.request.steps},
                        {"device", timing.device},
                        {"step_s", timing.step_s},
                        {"update_s", timing.update_s},
                        {"other_s", timing.other_s()},
                        {"ops", list_of(timing.ops, op_to_json)}});
}

}  // namespace chexbench::verbs
