#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "bench/recorder.hpp"
#include "engine/tensorless.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;

// A pipeline whose counters the test sets.
class ScriptedPipeline final : public pipeline::Pipeline {
 public:
  BatchLease next() override { return {}; }
  void stop() override {}
  std::vector<measure::OpCounters> counters() const override { return {counters_}; }

  measure::OpCounters counters_{.op = "map"};
};

// An engine whose steps finish on the test's command.
class ScriptedEngine final : public engine::TensorlessEngine {
 public:
  const engine::EngineTraits& traits() const override { return traits_; }
  void step(BatchLease, Reducer&) override {}
  void finish() override {}
  const measure::StepTimings& timings() const override { return timings_; }
  std::int64_t steps_finished() const override { return finished_; }
  void restart() override {}
  std::size_t held_bytes() const override { return 0; }

  void finish_step(double wall_s, double wait_s = 0) {
    timings_ = {.wall_s = wall_s, .wait_s = wait_s, .images = 4};
    ++finished_;
  }

 private:
  engine::EngineTraits traits_;
  measure::StepTimings timings_;
  std::int64_t finished_ = 0;
};

class RecorderTest : public testing::Test {
 protected:
  // One turn of the loop: a batch that took `next_s`, and the step of `finished_wall_s` that ended meanwhile, if any.
  void turn(Recorder& recorder, double next_s, double finished_wall_s) {
    recorder.batch_asked(10);
    recorder.batch_arrived(10 + next_s, 4);
    if (finished_wall_s > 0) engine_.finish_step(finished_wall_s);
    recorder.look(engine_);
  }

  ScriptedPipeline pipeline_;
  ScriptedEngine engine_;
};

TEST_F(RecorderTest, LeavesThePausesWorkOut) {
  Recorder recorder(pipeline_, {.warmup_steps = 0}, 0);
  turn(recorder, 0.5, 1.0);
  recorder.pause();
  const auto busy_until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < busy_until) continue;
  recorder.go_on();
  turn(recorder, 0.5, 2.0);
  const results::RepeatResult result = recorder.result();
  EXPECT_EQ(result.wall_s, 3);
  EXPECT_LT(result.process_cpu_s, 0.1);
}

TEST_F(RecorderTest, LeavesWarmUpOutAndNumbersMeasuredStepsFromZero) {
  Recorder recorder(pipeline_, {.warmup_steps = 2}, 1);
  for (const double wall_s : {9.0, 8.0, 1.0, 2.0}) turn(recorder, 0.5, wall_s);
  const results::RepeatResult result = recorder.result();
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_EQ(result.steps[0].step, 0);
  EXPECT_EQ(result.steps[0].rank, 1);
  EXPECT_DOUBLE_EQ(result.wall_s, 3.0);
  EXPECT_EQ(result.images_trained, 8u);
}

TEST_F(RecorderTest, GivesEachStepTheWaitForItsOwnBatchThoughTheEngineRunsAStepBehind) {
  Recorder recorder(pipeline_, {.warmup_steps = 0}, 0);
  turn(recorder, 0.1, 0);
  turn(recorder, 0.2, 1.0);
  turn(recorder, 0.3, 1.0);
  engine_.finish_step(1.0);
  recorder.look(engine_);
  std::vector<double> waits_s;
  for (const auto& step : recorder.result().steps) waits_s.push_back(step.next_s);
  EXPECT_THAT(waits_s, ElementsAre(testing::DoubleNear(0.1, 1e-9), testing::DoubleNear(0.2, 1e-9),
                                   testing::DoubleNear(0.3, 1e-9)));
}

TEST_F(RecorderTest, AddsUpTheWaitsForAllBatchesOfAStep) {
  Recorder recorder(pipeline_, {.warmup_steps = 1}, 0, 2);
  for (const double wall_s : {0.0, 1.0, 0.0, 1.0, 0.0}) {
    pipeline_.counters_.busy_wall_s += 0.25;
    turn(recorder, 0.1, wall_s);
  }
  const results::RepeatResult result = recorder.result();
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_NEAR(result.steps[0].next_s, 0.2, 1e-9);
  EXPECT_EQ(result.images_held_change, 4) << "the batch of a step that has begun is with the engine";
}

TEST_F(RecorderTest, CountsWhatThePipelineDidWithinTheWindowOnly) {
  pipeline_.counters_.images_decoded = 100;
  pipeline_.counters_.images_held = 50;
  Recorder recorder(pipeline_, {.warmup_steps = 1}, 0);
  pipeline_.counters_.images_decoded = 140;
  turn(recorder, 0.1, 1.0);  // the window opens after this step
  pipeline_.counters_.images_decoded = 170;
  pipeline_.counters_.images_held = 20;
  pipeline_.counters_.bad_records = 3;
  turn(recorder, 0.1, 1.0);
  const results::RepeatResult result = recorder.result();
  EXPECT_EQ(result.images_decoded, 30u);
  EXPECT_EQ(result.images_held_change, -30);
  EXPECT_EQ(result.bad_records, 3u);
}

TEST_F(RecorderTest, CountsTheRecordsThatWereSkippedBeforeTheWindowToo) {
  pipeline_.counters_.bad_records = 1;  // before the first batch was requested
  Recorder recorder(pipeline_, {.warmup_steps = 1}, 0);
  turn(recorder, 0.1, 1.0);
  pipeline_.counters_.bad_records = 2;
  turn(recorder, 0.1, 1.0);
  EXPECT_EQ(recorder.result().bad_records, 2u);
}

TEST_F(RecorderTest, CountsTheBatchInTheHandsOfAnEngineAStepBehindAsHeld) {
  Recorder recorder(pipeline_, {.warmup_steps = 1}, 0);
  pipeline_.counters_.images_decoded = 4;
  turn(recorder, 0.1, 0);
  pipeline_.counters_.images_decoded = 8;
  turn(recorder, 0.1, 1.0);  // the window opens after the first step, when the second batch is with the engine
  engine_.finish_step(1.0);
  recorder.look(engine_);
  const results::RepeatResult result = recorder.result();
  EXPECT_EQ(result.images_trained, 4u);
  EXPECT_EQ(result.images_decoded, 0u);
  EXPECT_EQ(result.images_held_change, -4);
}

TEST_F(RecorderTest, BooksTheWaitsOfMeasuredStepsToTheOpThatWorked) {
  Recorder recorder(pipeline_, {.warmup_steps = 1}, 2);
  for (int i = 0; i < 3; ++i) {
    recorder.batch_asked(10);
    pipeline_.counters_.busy_wall_s += 0.5;
    pipeline_.counters_.elements_out += 4;
    pipeline_.counters_.queue_depth = 7;
    recorder.batch_arrived(10.5, 4);
    engine_.finish_step(1, 0.5);
    recorder.look(engine_);
  }
  const results::RepeatResult result = recorder.result();
  ASSERT_EQ(result.waits.size(), 1u);
  EXPECT_EQ(result.waits[0].op, "map");
  EXPECT_EQ(result.waits[0].rank, 2);
  EXPECT_DOUBLE_EQ(result.waits[0].wait_s, 1);
  ASSERT_EQ(result.op_samples.size(), 2u);
  EXPECT_EQ(result.op_samples[1].step, 1);
  EXPECT_EQ(result.op_samples[1].elements_out, 8u);
  EXPECT_EQ(result.op_samples[1].queue_depth, 7u);
}

TEST_F(RecorderTest, KeepsSamplesOfTwoHundredStepsAtMost) {
  Recorder recorder(pipeline_, {.warmup_steps = 0, .steps = 401}, 0);
  for (int i = 0; i < 401; ++i) turn(recorder, 0.1, 1);
  EXPECT_EQ(recorder.result().op_samples.size(), 134u);
}

TEST_F(RecorderTest, WithoutAttributionBooksNothing) {
  Recorder recorder(pipeline_, {.warmup_steps = 0, .attribution = false}, 0);
  recorder.batch_asked(10);
  pipeline_.counters_.busy_wall_s = 1;
  recorder.batch_arrived(10.5, 4);
  engine_.finish_step(1, 0.5);
  recorder.look(engine_);
  const results::RepeatResult result = recorder.result();
  EXPECT_TRUE(result.waits.empty());
  EXPECT_TRUE(result.op_samples.empty());
}

TEST_F(RecorderTest, SeesMemoryOfThisProcess) {
  Recorder recorder(pipeline_, {.warmup_steps = 0}, 0);
  turn(recorder, 0.1, 1.0);
  EXPECT_GT(recorder.result().anonymous_rss_bytes, 0u);
  EXPECT_GT(recorder.result().peak_rss_bytes, 0u);
}

}  // namespace
}  // namespace chexbench::bench
