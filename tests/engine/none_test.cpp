#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/emulated_fixture.hpp"

namespace chexbench::engine {
namespace {

TEST(None, DropsEachBatchAtOnce) {
  const auto engine = make_engine("none", EngineConfig{});
  BatchSource batches(4, 1);  // with one batch, the next lease would never come if the engine kept one
  RecordingReducer reducer(2);
  for (int step = 1; step <= 3; ++step) {
    engine->step(batches.next(), reducer);
    EXPECT_EQ(engine->steps_finished(), step);
    EXPECT_EQ(engine->timings().images, 4);
    EXPECT_EQ(engine->timings().wall_s, engine->timings().wait_s);
    EXPECT_EQ(engine->timings().compute_s, 0);
    EXPECT_TRUE(std::isnan(engine->timings().loss));
  }
  EXPECT_TRUE(reducer.counts.empty());
  EXPECT_EQ(reducer.waits, 0);
}

TEST(None, TakesAllBatchesOfAStep) {
  EngineConfig config;
  config.training.accumulate_steps = 3;
  const auto engine = make_engine("none", config);
  BatchSource batches;
  RecordingReducer reducer(1);
  double begin_s = 0;
  for (int batch = 1; batch <= 6; ++batch) {
    engine->step(batches.next(), reducer);
    EXPECT_EQ(engine->steps_finished(), batch / 3);
    if (batch == 3) begin_s = engine->timings().end_s;
  }
  EXPECT_EQ(engine->timings().images, 12);
  EXPECT_NEAR(engine->timings().wall_s, engine->timings().end_s - begin_s, 1e-9);
}

TEST(None, BooksAllTimeSinceTheLastStepAsWait) {
  const auto engine = make_engine("none", EngineConfig{});
  BatchSource batches;
  RecordingReducer reducer(1);
  engine->step(batches.next(), reducer);
  const double first_end_s = engine->timings().end_s;
  sleep_until_s(first_end_s + 2e-3);
  engine->step(batches.next(), reducer);
  EXPECT_GE(engine->timings().wait_s, 2e-3);
  EXPECT_DOUBLE_EQ(engine->timings().end_s, first_end_s + engine->timings().wall_s);
}

TEST(MakeEngine, NamesTheNearestEngineForAnUnknownOne) {
  try {
    make_engine("onednm", EngineConfig{});
    FAIL() << "no error";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'onednn'?"));
  }
}

TEST(ResolveEngineName, RefusesAnEngineThatDoesNotExistAndNamesThoseThatDo) {
  try {
    resolve_engine_name("tpu");
    FAIL() << "no error";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("engine: unknown engine 'tpu' (known: auto, cuda, onednn, none, "));
    EXPECT_THAT(error.what(), testing::HasSubstr(", emulated:v100)"));
  }
}

TEST(ResolveEngineName, LeavesEnginesThatEveryBuildHasAlone) {
  for (const char* name : {"none", "cuda", "emulated:v100"}) EXPECT_EQ(resolve_engine_name(name), name);
}

// A build without oneDNN refuses both names.
TEST(ResolveEngineName, TakesOnednnForAuto) {
  std::string resolved;
  try {
    resolved = resolve_engine_name("auto");
  } catch (const Error&) {
    EXPECT_THROW(resolve_engine_name("onednn"), Error);
    GTEST_SKIP() << "built without oneDNN";
  }
  if (computes_on_gpu(resolved)) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(resolved, "onednn");
  EXPECT_EQ(resolve_engine_name("onednn"), "onednn");
}

}  // namespace
}  // namespace chexbench::engine
