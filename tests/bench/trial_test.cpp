#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "bench/trial.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "measure/trace.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::bench {
namespace {

spec::TrialSpec experiment(const std::string& pipeline, const std::string& engine) {
  spec::TrialSpec spec;
  spec.data.root = CHEXBENCH_TEST_DATA;
  spec.pipeline = spec::find_pipeline(pipeline);
  spec.model.image_size = 32;
  spec.training.batch_size = 4;
  spec.engine = engine;
  spec.measure.warmup_steps = 2;
  spec.measure.steps = 5;
  return spec;
}

results::RepeatResult run(const spec::TrialSpec& spec, Reducer* of_test = nullptr) {
  const auto world = comm::join_world();
  const auto reducer = world->communicator().make_reducer({});
  const dataset::Dataset dataset = dataset::open_dataset(spec.data);
  const auto engine = engine::make_engine(
      spec.engine,
      {.model = spec.model, .training = spec.training, .comm = spec.comm, .deliver = spec.data.deliver, .cores = {0}});
  GpuWatch no_gpu("");
  const TrialContext context{.spec = spec,
                             .dataset = dataset,
                             .engine = *engine,
                             .communicator = world->communicator(),
                             .reducer = of_test != nullptr ? *of_test : *reducer,
                             .gpu_watch = no_gpu,
                             .cores = {usable_cores().front()},
                             .repeat = 3,
                             .on_step = {}};
  return run_repeat(context);
}

class RunRepeatTest : public testing::TestWithParam<std::string> {};

TEST_P(RunRepeatTest, MeasuresTheStepsAskedForAndEveryImageOfThem) {
  const results::RepeatResult result = run(experiment(GetParam(), "none"));
  EXPECT_EQ(result.repeat, 3);
  EXPECT_EQ(result.steps.size(), 5u);
  EXPECT_EQ(result.images_trained, 20u);
  EXPECT_GT(result.wall_s, 0);
  EXPECT_FALSE(result.ops.empty());
}

TEST_P(RunRepeatTest, DecodesWhatItTrainsOnOrHolds) {
  const results::RepeatResult result = run(experiment(GetParam(), "none"));
  const auto trained_or_held = static_cast<std::int64_t>(result.images_trained) + result.images_held_change;
  // Counters are read while threads run: their work in progress at either edge may be counted on one side only.
  EXPECT_NEAR(static_cast<double>(result.images_decoded), static_cast<double>(trained_or_held), 8);
}

// keras decodes in the calling thread, so no other thread has work in progress; the emulated engine is one step behind.
TEST(RunRepeat, CountsTheBatchThatTheEngineHoldsWhenTheWindowOpens) {
  for (const char* const engine : {"none", "emulated:v100"}) {
    spec::TrialSpec spec = experiment("keras", engine);
    spec.model.image_size = 224;  // the profile has no other
    const results::RepeatResult result = run(spec);
    EXPECT_EQ(result.images_trained, 20u);
    EXPECT_EQ(static_cast<std::int64_t>(result.images_decoded), 20 + result.images_held_change) << engine;
  }
}

TEST_P(RunRepeatTest, PartsOfEachStepSumToItsWallTime) {
  for (const auto& step : run(experiment(GetParam(), "none")).steps) {
    const auto& t = step.timings;
    EXPECT_NEAR(t.wait_s + t.upload_s + t.compute_s + t.exposed_communication_s + t.update_s + t.other_s, t.wall_s,
                1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, RunRepeatTest, testing::Values("naive", "optimized", "keras", "pytorch"),
                         [](const auto& suite) { return suite.param; });

// Of a device that averages a bucket of the requested number of bytes.
class DeviceReducer final : public Reducer {
 public:
  void reduce(BucketSpan, ReadyEvent) override {}
  void wait() override {}
  ReducerTimings timings() const override { return {}; }
  int world() const override { return 1; }
  std::vector<BucketTime> take_device_buckets() override { return {{.begin_s = 1, .end_s = 2, .bytes = asked++}}; }

  std::uint64_t asked = 0;
};

TEST(RunRepeat, TracesTheDevicesBucketsSinceItsBegin) {
  DeviceReducer reducer;
  measure::TraceRecording recording(100'000);
  run(experiment("optimized", "none"), &reducer);
  const measure::Trace trace = recording.take();
  const auto row = std::ranges::find(trace.threads, "nccl", &measure::ThreadSpans::name);
  ASSERT_NE(row, trace.threads.end());
  ASSERT_EQ(row->spans.size(), 8u);  // after each of 7 steps, and at the end
  for (std::int64_t i = 0; const measure::Span& bucket : row->spans) {
    EXPECT_EQ(bucket.kind, measure::SpanKind::bucket);
    EXPECT_EQ(bucket.end_s, 2);
    EXPECT_EQ(bucket.detail, ++i) << "what was there before the first step is of the repeat before";
  }
}

TEST(RunRepeat, AsksForNoBucketsWhereNothingIsTraced) {
  DeviceReducer reducer;
  run(experiment("optimized", "none"), &reducer);
  EXPECT_EQ(reducer.asked, 0u);
}

TEST(RunRepeat, TakesAsManyBatchesForAStepAsAreAccumulated) {
  for (const char* const engine : {"none", "emulated:v100"}) {
    spec::TrialSpec spec = experiment("keras", engine);
    spec.model.image_size = 224;
    spec.training.accumulate_steps = 3;
    const results::RepeatResult result = run(spec);
    EXPECT_EQ(result.steps.size(), 5u) << engine;
    EXPECT_EQ(result.images_trained, 60u) << engine;
    EXPECT_EQ(static_cast<std::int64_t>(result.images_decoded), 60 + result.images_held_change) << engine;
  }
}

TEST(RunRepeat, InputAndTrainingTakeTurnsUnlessTheyMayOverlap) {
  spec::TrialSpec spec = experiment("keras", "emulated:v100");
  spec.model.image_size = 224;
  for (const bool overlap_input : {true, false}) {
    spec.training.overlap_input = overlap_input;
    double wait_s = 0, next_s = 0;
    for (const results::StepRecord& step : run(spec).steps) {
      wait_s += step.timings.wait_s;
      next_s += step.next_s;
    }
    if (overlap_input) {
      EXPECT_LT(wait_s, next_s);
    } else {
      EXPECT_GE(wait_s, next_s);
    }
  }
}

// A process that keeps a core busy until it goes out of scope.
class BusyNeighbour {
 public:
  explicit BusyNeighbour(int core) : process_(fork()) {
    if (process_ != 0) return;
    bind_this_thread({core});
    while (getppid() != 1) {
    }
    _exit(0);
  }
  ~BusyNeighbour() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  BusyNeighbour(const BusyNeighbour&) = delete;
  BusyNeighbour& operator=(const BusyNeighbour&) = delete;

 private:
  const pid_t process_;
};

TEST(RunRepeat, MeasuresWhatAnotherProcessTakesOfItsCores) {
  const BusyNeighbour neighbour(usable_cores().front());
  spec::TrialSpec spec = experiment("keras", "emulated:v100");
  spec.model.image_size = 224;
  spec.measure.steps = 40;
  spec.data.format = spec::DataFormat::ready;  // it only sleeps, so the neighbour gets the core
  const results::Disturbance disturbance = run(spec).disturbance;
  EXPECT_GT(disturbance.core_s, 0.1);
  EXPECT_GT(disturbance.others_s, 0.3 * disturbance.core_s);
}

TEST(RunRepeat, SaysWhenAFinitePipelineEndsTooEarly) {
  spec::TrialSpec spec = experiment("optimized", "none");
  spec.pipeline =
      spec::parse_pipeline(R"([{"op": "list_files"}, {"op": "read"}, {"op": "map"}, {"op": "batch"}])", "test");
  spec.measure.steps = 100;
  try {
    run(spec);
    FAIL() << "the pipeline gave more batches than it has images";
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find("repeat"), std::string::npos) << error.what();
  }
}

TEST(RunRepeat, NamesTheFileThatCannotBeRead) {
  spec::TrialSpec spec = experiment("optimized", "none");
  const auto world = comm::join_world();
  const auto reducer = world->communicator().make_reducer({});
  dataset::Dataset dataset = dataset::open_dataset(spec.data);
  for (auto& image : dataset.images) image.path = "/nowhere/" + image.name;
  const auto engine = engine::make_engine("none", {});
  GpuWatch no_gpu("");
  EXPECT_THROW(run_repeat({.spec = spec,
                           .dataset = dataset,
                           .engine = *engine,
                           .communicator = world->communicator(),
                           .reducer = *reducer,
                           .gpu_watch = no_gpu,
                           .cores = {0},
                           .repeat = 0,
                           .on_step = {}}),
               DataError);
}

}  // namespace
}  // namespace chexbench::bench
