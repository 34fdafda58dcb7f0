#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/emulated_fixture.hpp"
#include "measure/trace.hpp"

namespace chexbench::engine {
namespace {

using testing::HasSubstr;

double parts_s(const measure::StepTimings& t) {
  return t.wait_s + t.upload_s + t.compute_s + t.exposed_communication_s + t.update_s + t.other_s;
}

std::string spec_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const SpecError& error) {
    return error.what();
  }
  return "no SpecError";
}

// Batch 4 at 2,000 images/s takes 2 ms per step.
constexpr double kStepS = 2e-3;
const char* const kFast = R"("images_per_s": 2000, "includes_update": true, "includes_communication": false)";

// An engine with that profile, and what it runs on.
struct Running {
  explicit Running(const EngineConfig& config = small_config())
      : reducer(config.world), engine(make_engine(profile.engine_name(), config)) {}
  void step() { engine->step(batches.next(), reducer); }

  const ProfileFile profile{kFast};
  BatchSource batches;
  RecordingReducer reducer;
  const std::unique_ptr<Engine> engine;
};

TEST(Emulated, TakesTheProfilesTimeForEachStep) {
  Running fast;
  for (int step = 0; step < 3; ++step) {
    fast.step();
    fast.engine->finish();
    const measure::StepTimings& timings = fast.engine->timings();
    EXPECT_DOUBLE_EQ(timings.compute_s, kStepS);
    EXPECT_DOUBLE_EQ(timings.forward_s + timings.backward_s, kStepS);
    EXPECT_DOUBLE_EQ(timings.backward_s, kStepS * 2 / 3);
    EXPECT_DOUBLE_EQ(parts_s(timings), timings.wall_s);
    EXPECT_NEAR(timings.other_s, 0, 1e-9);
    EXPECT_GE(timings.wait_s, 0);
    EXPECT_TRUE(std::isnan(timings.loss));
    EXPECT_EQ(timings.images, 4);
    EXPECT_LE(timings.end_s, now_s());  // finish() returns no sooner than the device is done
  }
  EXPECT_TRUE(fast.reducer.counts.empty());
}

// Deadlines are absolute, so a late wake-up makes no step longer. If batches are always available, each step ends
// exactly one step time after the previous one, no matter how busy the host is.
TEST(Emulated, StepsDoNotDrift) {
  Running fast;
  double last_end_s = 0;
  for (int step = 0; step < 20; ++step) {
    fast.step();
    if (fast.engine->steps_finished() == 0) continue;
    const measure::StepTimings& timings = fast.engine->timings();
    if (last_end_s != 0) {
      EXPECT_NEAR(timings.end_s - last_end_s, timings.wait_s + kStepS, 1e-9);
    }
    EXPECT_NEAR(timings.wall_s, timings.wait_s + kStepS, 1e-9);
    last_end_s = timings.end_s;
  }
}

TEST(Emulated, WaitIsTheTimeThatTheDeviceHadNoBatch) {
  Running fast;
  fast.step();
  fast.engine->finish();
  const double idle_since_s = fast.engine->timings().end_s;
  sleep_until_s(idle_since_s + 5e-3);
  fast.step();
  fast.engine->finish();
  EXPECT_GE(fast.engine->timings().wait_s, 5e-3);
  EXPECT_NEAR(fast.engine->timings().end_s, idle_since_s + fast.engine->timings().wait_s + kStepS, 1e-9);
}

TEST(Emulated, GivesTheBatchBackWhenItsStepBegins) {
  const ProfileFile profile(R"("images_per_s": 40, "includes_update": true, "includes_communication": false)");
  const auto engine = make_engine(profile.engine_name(), small_config());
  BatchSource batches(4, 1);
  RecordingReducer reducer(1);
  engine->step(batches.next(), reducer);  // 100 ms
  batches.next();                         // the pool's only batch is free again while the step runs
  const double free_s = now_s();
  engine->finish();
  EXPECT_LT(free_s, engine->timings().end_s);
}

TEST(Emulated, RestartBeginsAnew) {
  Running fast;
  fast.step();
  const double before_s = now_s();
  fast.engine->restart();
  const double after_s = now_s();
  EXPECT_EQ(fast.engine->steps_finished(), 0);
  fast.step();
  fast.engine->finish();
  EXPECT_EQ(fast.engine->steps_finished(), 1);
  EXPECT_LE(fast.engine->timings().wall_s, fast.engine->timings().end_s - before_s);
  EXPECT_GE(fast.engine->timings().wall_s, fast.engine->timings().end_s - after_s);
}

TEST(Emulated, SaysThatItIsAndWhereItsSpeedComesFrom) {
  const auto engine = make_engine("emulated:v100", EngineConfig{});
  EXPECT_EQ(engine->traits().name, "emulated:v100");
  EXPECT_TRUE(engine->traits().emulated);
  EXPECT_FALSE(engine->traits().trains);
  EXPECT_THAT(engine->traits().device, HasSubstr("V100"));
  EXPECT_THAT(engine->traits().source, HasSubstr("384 images/s"));
  EXPECT_THAT(engine->traits().notes, testing::Contains(HasSubstr("scaled linearly to batch 16")));
}

TEST(Emulated, SaysWhetherItsSpeedWasComputed) {
  EXPECT_FALSE(make_engine("emulated:v100", EngineConfig{})->traits().step_time_computed);
  const ProfileFile profile(std::string(kFast) + R"(, "computed": true)");
  EXPECT_TRUE(make_engine(profile.engine_name(), small_config())->traits().step_time_computed);
}

TEST(Emulated, RefusesWhatItsProfileHasNoTimeFor) {
  EngineConfig config;
  config.model.image_size = 320;
  EXPECT_THAT(spec_error([&] { make_engine("emulated:v100", config); }),
              testing::AllOf(HasSubstr("resnet50 320x320 f32"), HasSubstr("resnet50 224x224 fp16")));
  EXPECT_THAT(spec_error([] { make_engine("emulated:v10", EngineConfig{}); }), HasSubstr("did you mean 'v100'?"));
  EXPECT_THAT(spec_error([] { make_engine("emulated:no/such.json", EngineConfig{}); }), HasSubstr("no/such.json"));
}

TEST(Emulated, AveragesGradientsOfTheModelsSizeForReal) {
  EngineConfig config = small_config();
  config.world = 2;
  Running fast(config);
  EXPECT_EQ(fast.engine->held_bytes(), 23'536'718u * sizeof(float));  // ResNet50 with 14 outputs
  fast.step();
  fast.engine->finish();
  EXPECT_EQ(std::accumulate(fast.reducer.counts.begin(), fast.reducer.counts.end(), std::size_t{0}), 23'536'718u);
  EXPECT_EQ(fast.reducer.waits, 1);
  EXPECT_EQ(fast.engine->timings().communication_busy_s, 0.25);  // as the reducer reports it
  EXPECT_GE(fast.engine->timings().exposed_communication_s, 0);
  EXPECT_DOUBLE_EQ(parts_s(fast.engine->timings()), fast.engine->timings().wall_s);
}

TEST(Emulated, AveragesAndUpdatesOnceForAllBatchesOfAStep) {
  const ProfileFile profile(
      R"("images_per_s": 2000, "includes_update": false, "update_s": 1e-3, "includes_communication": false)");
  EngineConfig config = small_config();
  config.world = 2;
  config.training.accumulate_steps = 3;
  const auto engine = make_engine(profile.engine_name(), config);
  BatchSource batches;
  RecordingReducer reducer(2);
  for (int batch = 1; batch <= 5; ++batch) {
    engine->step(batches.next(), reducer);
    engine->finish();
    EXPECT_EQ(reducer.waits, batch / 3);
    EXPECT_EQ(engine->steps_finished(), batch / 3);
  }
  const measure::StepTimings& timings = engine->timings();
  EXPECT_EQ(timings.images, 12);
  EXPECT_DOUBLE_EQ(timings.compute_s, 3 * kStepS);
  EXPECT_DOUBLE_EQ(timings.update_s, 1e-3);
  EXPECT_NEAR(parts_s(timings), timings.wall_s, 1e-12);
  EXPECT_EQ(std::accumulate(reducer.counts.begin(), reducer.counts.end(), std::size_t{0}), 23'536'718u);
}

TEST(Emulated, RefusesAReducerOfAnotherGroup) {
  const ProfileFile profile(kFast);
  EngineConfig config = small_config();
  config.world = 2;
  const auto engine = make_engine(profile.engine_name(), config);
  BatchSource batches;
  RecordingReducer reducer(4);
  EXPECT_THROW(engine->step(batches.next(), reducer), DeviceError);
}

// The link is so slow that backward hides nothing: the only bucket begins when backward is done, and takes
// 2 (n-1)/n S/B = 10 ms.
EngineConfig slow_link_config() {
  EngineConfig config = small_config();
  config.world = 2;
  config.comm = {.bucket_bytes = 1'000'000'000,
                 .first_bucket_bytes = 1'000'000'000,
                 .model = spec::CommModel::alpha_beta,
                 .alpha_s = 0,
                 .beta_bytes_per_s = 23'536'718 * 4.0 / 10e-3,
                 .launch_s = 0};
  return config;
}

TEST(Emulated, ModelledCommunicationIsExposedWhereBackwardCannotHideIt) {
  const ProfileFile profile(kFast);
  const EngineConfig config = slow_link_config();
  const auto engine = make_engine(profile.engine_name(), config);
  BatchSource batches;
  RecordingReducer reducer(2);
  engine->step(batches.next(), reducer);
  engine->finish();
  const double met_s = engine->timings().exposed_communication_s - 10e-3;  // until the reducer had returned
  EXPECT_GE(met_s, 0);
  EXPECT_LT(met_s, 1);
  EXPECT_NEAR(engine->timings().communication_busy_s, 10e-3, 1e-9);
  EXPECT_EQ(reducer.meetings, 1);
  EXPECT_TRUE(reducer.counts.empty());
}

// A rank that is late by 20 ms.
class LateRankReducer final : public Reducer {
 public:
  void reduce(BucketSpan, ReadyEvent) override {}
  void wait() override {}
  void meet() override { sleep_until_s(now_s() + kLateS); }
  ReducerTimings timings() const override { return {}; }
  int world() const override { return 2; }

  static constexpr double kLateS = 20e-3;
};

TEST(Emulated, ARankWaitsForTheOthersWhereItsNetworkIsModelled) {
  const ProfileFile profile(kFast);
  EngineConfig config = slow_link_config();
  BatchSource batches;
  LateRankReducer reducer;
  for (const auto model : {spec::CommModel::alpha_beta, spec::CommModel::none}) {
    config.comm.model = model;
    const auto engine = make_engine(profile.engine_name(), config);
    engine->step(batches.next(), reducer);
    engine->finish();
    const measure::StepTimings& timings = engine->timings();
    if (model == spec::CommModel::none) {
      EXPECT_EQ(timings.exposed_communication_s, 0);
    } else {
      EXPECT_GE(timings.exposed_communication_s, 10e-3 + LateRankReducer::kLateS);
    }
    EXPECT_DOUBLE_EQ(timings.compute_s, kStepS);
    EXPECT_NEAR(parts_s(timings), timings.wall_s, 1e-9);
  }
}

TEST(Emulated, ASlowedDeviceAndItsLinksTakeAsManyTimesAsLong) {
  const ProfileFile profile(kFast);
  EngineConfig config = slow_link_config();
  BatchSource batches;
  RecordingReducer reducer(2);
  const auto step = [&] {
    const auto engine = make_engine(profile.engine_name(), config);
    engine->step(batches.next(), reducer);
    engine->finish();
    return engine->timings();
  };
  const measure::StepTimings full = step();
  config.slowdown = 3;
  const measure::StepTimings slow = step();
  EXPECT_NEAR(slow.compute_s, 3 * full.compute_s, 1e-9);
  EXPECT_GE(slow.exposed_communication_s, 3 * 10e-3);  // and until the ranks have met, which takes this machine's time
  EXPECT_NEAR(slow.communication_busy_s, 3 * full.communication_busy_s, 1e-9);
  EXPECT_NEAR(slow.update_s, 3 * full.update_s, 1e-9);
}

TEST(Emulated, ModelledBucketsAreTracedAsSuchBehindBackward) {
  Running fast(slow_link_config());
  measure::TraceRecording recording(10);
  for (int step = 0; step < 2; ++step) fast.step();
  fast.engine->finish();
  const measure::Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].name, "emulated");
  ASSERT_EQ(trace.threads[0].spans.size(), 2u);
  const measure::Span& bucket = trace.threads[0].spans[1];
  EXPECT_STREQ(bucket.name, "modelled bucket");
  EXPECT_EQ(bucket.kind, measure::SpanKind::bucket);
  EXPECT_EQ(bucket.detail, 23'536'718 * 4);
  EXPECT_NEAR(bucket.end_s - bucket.begin_s, 10e-3, 1e-9);
  EXPECT_NEAR(bucket.end_s, fast.engine->timings().end_s, 1e-9);
}

class LostRankReducer final : public Reducer {
 public:
  void reduce(BucketSpan, ReadyEvent) override { throw DeviceError("a rank was lost"); }
  void wait() override {}
  ReducerTimings timings() const override { return {}; }
  int world() const override { return 2; }
};

TEST(Emulated, AnErrorOnTheDevicesThreadReachesTheCaller) {
  const ProfileFile profile(kFast);
  EngineConfig config = small_config();
  config.world = 2;
  const auto engine = make_engine(profile.engine_name(), config);
  BatchSource batches;
  LostRankReducer reducer;
  engine->step(batches.next(), reducer);
  EXPECT_THROW(engine->finish(), DeviceError);
}

}  // namespace
}  // namespace chexbench::engine
