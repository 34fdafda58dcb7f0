// Measures the images/s of training steps, and their speed as a share of a large matrix product's on the same threads.
//   OMP_WAIT_POLICY=passive bin/onednn_training_benchmark [--benchmark_filter=resnet50_f32]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <unordered_map>

#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/onednn/device.hpp"
#include "engine/onednn/primitive_descs.hpp"
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

// Returns the GFLOP/s of the fastest of six products of 2048 x 2048 matrices of the device's type, computed by oneDNN
// on the threads of parallel.hpp. Takes about a second.
double matmul_gflops(const Device& device) {
  constexpr int kSide = 2048;
  constexpr int kTries = 6;
  using dnnl::memory;
  const memory::dims sides{kSide, kSide};
  const memory::desc any(sides, device.data_type(), memory::format_tag::any);
  const auto desc = describe<dnnl::matmul>(device.engine, {}, any, any, any);
  memory a(desc.src_desc(), device.engine), b(desc.weights_desc(), device.engine), c(desc.dst_desc(), device.engine);
  // Uninitialized memory could hold denormal numbers, which are slow; zeros are as fast as ordinary numbers.
  for (const memory* operand : {&a, &b}) {
    auto* const bytes = static_cast<std::byte*>(operand->get_data_handle());
    std::fill_n(bytes, operand->get_desc().get_size(), std::byte{0});
  }
  const dnnl::matmul matmul(desc);
  const std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
  double best_s = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const double begin_s = now_s();
    matmul.execute(device.stream, arguments);
    best_s = std::min(best_s, now_s() - begin_s);
  }
  return 2.0 * kSide * kSide * kSide / best_s * 1e-9;
}

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
