// Measures the images/s of training steps, and their speed as a share of a large matrix product's on the same threads.
//   OMP_WAIT_POLICY=passive bin/onednn_training_benchmark [--benchmark_filter=resnet50_f32]
#include <benchmark/benchmark.h>

#include <algorithm>

#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "engine/onednn/device.hpp"
#include "engine/onednn/trainer.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::onednn {
namespace {

class NoReducer final : public Reducer {
 public:
  void reduce(BucketSpan, ReadyEvent) override {}
  void wait() override {}
  ReducerTimings timings() const override { return {}; }
  int world() const override { return 1; }
};

void train(benchmark::State& state, const char* model, spec::Precision precision) {
  EngineConfig config;
  config.model.name = model;
  config.training.precision = precision;
  config.cores = usable_cores();
  std::unique_ptr<OnednnEngine> engine;
  try {
    engine = std::make_unique<OnednnEngine>(config);
  } catch (const DeviceError& error) {
    state.SkipWithError(error.what());
    return;
  }
  const int size = config.model.image_size, images = config.training.batch_size;
  const auto pool = BatchPool::create({.images = images, .height = size, .width = size}, 1, engine->allocator());
  NoReducer reducer;
  const auto step = [&] {
    BatchLease batch = pool->acquire({});
    std::fill(batch->f32().begin(), batch->f32().end(), 0.5f);
    batch->valid = images;
    engine->step(std::move(batch), reducer);
  };
  step();
  for (auto _ : state) step();
  const double matmul = matmul_gflops(make_device(precision));
  const double flops = 3 * model::forward_flops(model::make_network(model, size)) * images;
  using benchmark::Counter;
  state.SetItemsProcessed(state.iterations() * images);
  state.counters["GFLOP/s"] = Counter(flops * 1e-9, Counter::kIsIterationInvariantRate);
  state.counters["matmul_GFLOP/s"] = matmul;
  state.counters["share_of_matmul"] = Counter(flops * 1e-9 / matmul, Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(train, resnet50_f32, "resnet50", spec::Precision::f32)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train, densenet121_f32, "densenet121", spec::Precision::f32)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train, alexnet_f32, "alexnet", spec::Precision::f32)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train, googlenet_f32, "googlenet", spec::Precision::f32)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train, mobilenet_v2_f32, "mobilenet_v2", spec::Precision::f32)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train, resnet50_bf16, "resnet50", spec::Precision::bf16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(train, densenet121_bf16, "densenet121", spec::Precision::bf16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chexbench::engine::onednn

BENCHMARK_MAIN();
