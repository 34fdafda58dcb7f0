// The engine and the NCCL reducer over a device that runs queued work late and in strange orders: in any order, the
// same bits must come out as in the order of queueing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <thread>

#include "comm/nccl/nccl_world.hpp"
#include "core/errors.hpp"
#include "engine/cuda/strict/strict_cuda.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/gradients.hpp"
#include "engine/training_engine.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;
using testing::IsEmpty;

constexpr const char* kNetwork = "mobilenet_v2";  // the smallest
constexpr int kSteps = 5;                         // eager ones, the capture, and replays of both graphs
constexpr int kWorld = 2;
constexpr std::int64_t kResumedUpdates = 70;
constexpr float kResumedValue = 0.01f;

class StrictEngine : public testing::Test {
 protected:
  StrictEngine() {
    std::filesystem::remove_all(cache_);
    setenv("XDG_CACHE_HOME", cache_.c_str(), 1);  // plans are timed by the first engine only
  }
  ~StrictEngine() override { std::filesystem::remove_all(cache_); }

  static EngineConfig config(Precision precision) {
    EngineConfig config = config_of(kNetwork, precision);
    config.gpu = strict::kDevice;
    config.world = kWorld;
    return config;
  }
  static std::unique_ptr<comm::NcclWorld> join_ranks() {
    return comm::nccl::join(comm::nccl::make_id(), {.rank = 0, .world = kWorld, .gpu = strict::kDevice});
  }

  // Refills the only buffer of a pool for each step. While it is free, other numbers are written there before each
  // piece of the device's work, as a pipeline's threads may do at any time.
  class Batches {
   public:
    explicit Batches(Engine& engine)
        : pool_(BatchPool::create({.images = kImages, .height = kSize, .width = kSize, .deliver = Deliver::u8}, 1,
                                  engine.allocator())) {
      strict::scheduler().before_each([this] { overwrite_if_free(); });
    }
    ~Batches() {
      strict::scheduler().before_each([] {});
    }
    Batches(const Batches&) = delete;
    Batches& operator=(const Batches&) = delete;
    BatchLease next(int number) {
      BatchLease batch = pool_->acquire({});
      const BatchLease noise = batch_of(number);
      std::memcpy(batch->images, noise->images, noise->shape.bytes());
      batch->labels = noise->labels;
      batch->valid = kImages;
      return batch;
    }

   private:
    void overwrite_if_free() {
      std::stop_source no_wait;
      no_wait.request_stop();
      if (const BatchLease batch = pool_->acquire(no_wait.get_token()))
        std::memset(batch->images, ++written_ % 0x100, batch->shape.bytes());
    }
    const std::shared_ptr<BatchPool> pool_;
    int written_ = 0;
  };

  // The results of a training: losses, and then the values read back.
  struct Results {
    std::vector<double> losses;
    std::vector<float> values;
    // Bit by bit: in fp16 gradients of skipped steps are not finite.
    friend bool operator==(const Results& a, const Results& b) {
      return a.losses == b.losses && a.values.size() == b.values.size() &&
             std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0;
    }
  };

  static void append(std::vector<float>& values, const std::vector<float>& more) {
    values.insert(values.end(), more.begin(), more.end());
  }

  // Continues from a checkpoint whose tensors are all the same numbers.
  static void resume(CudaEngine& engine) {
    engine.epoch_training()->resume(
        [](const TensorInfo& info, std::span<float> values) {
          std::ranges::fill(values, info.name.find("var") != std::string::npos ? 1.0f : kResumedValue);
          if (info.name == "grad_scaler") values.front() = 1024;
        },
        kResumedUpdates);
  }

  Results train(const EngineConfig& config) {
    const auto world = join_ranks();
    const auto reducer = world->make_reducer(kWorld);
    CudaEngine engine(config);
    Batches batches(engine);
    Results results;
    std::int64_t seen = 0;
    const auto look = [&] {
      if (engine.steps_finished() > seen) results.losses.push_back(engine.timings().loss);
      seen = engine.steps_finished();
    };
    for (int i = 0; i < kSteps * config.training.accumulate_steps; ++i) {
      engine.step(batches.next(i), *reducer);
      look();
      if (i == 1) engine.epoch_training()->set_learning_rate(3e-3);
    }
    engine.finish();
    look();
    for (const TensorInfo& info : {engine.parameters().front(), engine.parameters().back()}) {
      std::vector<float> values(static_cast<std::size_t>(info.count()));
      engine.read_parameter(info.name, values);
      EXPECT_GT(norm(values), 0) << info.name;
      append(results.values, values);
      append(results.values, gradient(engine, info));
    }
    append(results.values, running_statistics(engine));
    std::vector<float> logits(static_cast<std::size_t>(kImages) * kNihLabels);
    engine.epoch_training()->evaluate(batches.next(0), logits);
    append(results.values, logits);
    const std::vector<float> of_first = logits;
    engine.epoch_training()->evaluate(batches.next(1), logits);
    EXPECT_NE(logits, of_first);
    append(results.values, {static_cast<float>(engine.epoch_training()->updates())});
    resume(engine);
    EXPECT_EQ(engine.epoch_training()->updates(), kResumedUpdates);
    const TensorInfo moment = engine.epoch_training()->moments().front();
    std::vector<float> resumed(static_cast<std::size_t>(moment.count()));
    engine.epoch_training()->read_moment(moment.name, resumed);
    EXPECT_THAT(resumed, testing::Each(kResumedValue));
    engine.step(batches.next(1), *reducer);
    engine.finish();
    results.losses.push_back(engine.timings().loss);
    const std::vector<float> read(engine.logits().begin(), engine.logits().end());
    EXPECT_GT(norm(read), 0);
    append(results.values, read);
    engine.restart();
    engine.step(batches.next(0), *reducer);
    engine.finish();
    results.losses.push_back(engine.timings().loss);
    return results;
  }

  // Returns those of the first norm. Each channel has moved towards its own statistics.
  static std::vector<float> running_statistics(CudaEngine& engine) {
    std::vector<float> statistics;
    for (const TensorInfo& info : {engine.buffers().at(0), engine.buffers().at(1)}) {
      std::vector<float> values(static_cast<std::size_t>(info.count()));
      engine.read_buffer(info.name, values);
      EXPECT_EQ(std::set(values.begin(), values.end()).size(), values.size()) << info.name;
      for (const float value : values) EXPECT_TRUE(std::isfinite(value)) << info.name;
      append(statistics, values);
    }
    return statistics;
  }

  // If requested, also with a second stream, which must change no bit.
  void expect_the_same_in_any_order(const EngineConfig& config, unsigned seeds = 3, bool second_stream = false) {
    strict::reset(0, true);
    const Results expected = train(config);
    EXPECT_THAT(strict::violations(), IsEmpty());
    ASSERT_GT(expected.losses.size(), static_cast<std::size_t>(kSteps));
    for (const double loss : expected.losses) ASSERT_TRUE(std::isfinite(loss));
    EngineConfig other = config;
    other.training.concurrent_weight_gradients = second_stream;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      strict::reset(seed, false);
      EXPECT_EQ(train(other), expected) << "seed " << seed;
      EXPECT_THAT(strict::violations(), IsEmpty()) << "seed " << seed;
    }
  }

  const std::filesystem::path cache_ =
      std::filesystem::path(testing::TempDir()) / ("chexbench-strict-" + std::to_string(getpid()));
};

TEST_F(StrictEngine, ComputesTheSameInAnyOrder) { expect_the_same_in_any_order(config(Precision::f32)); }

TEST_F(StrictEngine, ComputesTheSameInAnyOrderInHalfPrecision) {
  expect_the_same_in_any_order(config(Precision::fp16), 2);
}

TEST_F(StrictEngine, ComputesTheSameInAnyOrderWithoutGraphs) {
  EngineConfig eager = config(Precision::f32);
  eager.training.cuda_graph = false;
  expect_the_same_in_any_order(eager, 2);
}

TEST_F(StrictEngine, ComputesTheSameInAnyOrderWithWeightGradientsOnASecondStream) {
  expect_the_same_in_any_order(config(Precision::f32), 3, true);
}

TEST_F(StrictEngine, ComputesTheSameInAnyOrderWithSeveralBatchesAStep) {
  EngineConfig accumulating = config(Precision::f32);
  accumulating.training.accumulate_steps = 2;
  expect_the_same_in_any_order(accumulating, 2);
}

// The smallest network has no dense block, and no norm that takes in a pool.
TEST_F(StrictEngine, ComputesTheSameInAnyOrderWithPackedDenseLayersAndPooledNorms) {
  EngineConfig packed = config(Precision::fp16);
  packed.model.name = "densenet121";
  packed.training.deterministic = false;  // which packs nothing; the stand-in's plans have one order anyway
  packed.plan_choice.forces_fused = true;
  expect_the_same_in_any_order(packed, 1, true);
  std::ifstream plans(cache_ / "chexbench" / "convolution-plans.txt");
  const std::string timed{std::istreambuf_iterator<char>(plans), {}};
  EXPECT_THAT(timed, testing::HasSubstr("normalized_weight_gradient")) << "only packed ones are fused in DenseNet";
}

// ResNet has all fused patterns; MobileNet's ReLU6 leaves few.
TEST_F(StrictEngine, ComputesTheSameInAnyOrderWhereConvolutionsComputeNormsAndJoins) {
  EngineConfig fused = config(Precision::fp16);
  fused.model.name = "resnet50";
  fused.training.deterministic = false;
  fused.plan_choice.forces_fused = true;
  expect_the_same_in_any_order(fused, 1, true);
}

TEST_F(StrictEngine, ALossThatIsNotFiniteNamesTheSameLayerInAnyOrder) {
  std::set<std::string> messages;
  for (unsigned seed = 0; seed < 4; ++seed) {
    strict::reset(seed, seed == 0);
    EngineConfig diverging = config(Precision::f32);
    diverging.training.learning_rate = 1e30;
    diverging.world = 1;
    SingleReducer reducer;
    CudaEngine engine(diverging);
    Batches batches(engine);
    try {
      for (int i = 0; i < kSteps; ++i) engine.step(batches.next(i), reducer);
      engine.finish();
      ADD_FAILURE() << "a finite loss";
    } catch (const DeviceError& error) {
      messages.insert(error.what());
    }
    EXPECT_THAT(strict::violations(), IsEmpty());
  }
  EXPECT_EQ(messages.size(), 1u);
  EXPECT_THAT(*messages.begin(), testing::HasSubstr("features.0.1 is the first layer whose output is not finite"));
}

TEST_F(StrictEngine, OtherThreadsPinAndFreeMemoryOfTheDeviceOfTheProcess) {
  strict::reset(1, false);
  select_device(strict::kDevice);
  std::unique_ptr<PinnedMemory> memory;
  std::jthread([&] { memory = std::make_unique<PinnedMemory>(64); }).join();
  std::jthread([&] { memory.reset(); }).join();
  EXPECT_THAT(strict::violations(), IsEmpty());
}

TEST_F(StrictEngine, MemoryThatIsNotThereIsAnErrorThatNoLaunchReportsAgain) {
  strict::reset(1, false);
  select_device(strict::kDevice);
  EXPECT_THROW(DeviceMemory(std::size_t{1} << 40), DeviceError);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(StrictEngine, ADeviceThatFailsInAStepIsLostAndSaysSo) {
  strict::reset(1, false);
  const auto world = join_ranks();
  const auto reducer = world->make_reducer(kWorld);
  CudaEngine engine(config(Precision::f32));
  Batches batches(engine);
  for (int i = 0; i < 3; ++i) engine.step(batches.next(i), *reducer);
  strict::scheduler().fail_at(strict::scheduler().executed() + 20);
  EXPECT_THROW(for (int i = 3; i < 6; ++i) engine.step(batches.next(i), *reducer), DeviceLostError);
}

TEST_F(StrictEngine, AStepThatDoesNotEndIsGivenUpAndNamed) {
  strict::reset(1, false);
  const auto world = join_ranks();
  const auto reducer = world->make_reducer(kWorld);
  EngineConfig impatient = config(Precision::f32);
  impatient.comm.stall_limit_s = 4;       // longer than a step takes on a busy machine
  impatient.training.cuda_graph = false;  // the other ranks of a graph's all-reduce always come
  CudaEngine engine(impatient);
  Batches batches(engine);
  engine.step(batches.next(0), *reducer);
  engine.finish();
  strict::stall_other_ranks();
  try {
    engine.step(batches.next(1), *reducer);
    engine.finish();
    ADD_FAILURE() << "the other rank came";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 0 has waited 4 s for step 2, which does not end"));
  }
  EXPECT_THROW(reducer->check(), DeviceError) << "the communicator ends, so that the device does";
  EXPECT_THAT(strict::violations(), IsEmpty());
}

TEST_F(StrictEngine, ARankThatGivesUpLetsItsDeviceEnd) {
  strict::reset(1, false);
  auto world = join_ranks();
  auto reducer = world->make_reducer(kWorld);
  const OwnedStream stream;
  Event ready;
  DeviceMemory gradients(64);
  strict::stall_other_ranks();
  ready.record(stream.get());
  reducer->reduce({.data = gradients.data(), .count = 16}, ready.handle());
  reducer->join(stream.get());
  reducer->give_up("rank 0 has waited for 60 s");
  EXPECT_THROW(reducer->check(), DeviceError);
  reducer.reset();
  world.reset();  // waits until the communicator is aborted
  synchronize(stream.get());
  EXPECT_THAT(strict::violations(), IsEmpty());
}

}  // namespace
}  // namespace chexbench::engine::cuda
