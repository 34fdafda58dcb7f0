// Tests errors before anything runs, the memory forecast, and ready-made batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "pipeline/harness.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using testing::HasSubstr;

TEST(Builder, KnowsEveryOpOfTheTable) {
  const dataset::Dataset& dataset = xrays(DataFormat::png);
  for (const spec::OpRule& rule : spec::op_rules()) {
    std::vector<spec::OpSpec> ops;
    if (rule.op != "list_files") ops.push_back(op("list_files"));
    ops.push_back(op(rule.op));
    Chain chain(dataset, ops);
    EXPECT_EQ(chain.at(ops.size() - 1).name(), rule.op);
  }
}

TEST(Builder, NamesTheOpThatCannotFollow) {
  const auto pipeline = list({op("list_files"), op("batch")});
  try {
    make_pipeline(context_of(xrays(DataFormat::png), pipeline, {}));
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipeline[1]"));
  }
}

class Forecast : public testing::TestWithParam<std::string> {};

TEST_P(Forecast, BoundsWhatThePipelineHolds) {
  const auto pipeline = spec::preset(GetParam());
  const Setting setting{.size = 64, .deliver = Deliver::f32};
  const auto context = context_of(xrays(DataFormat::png), pipeline, setting);
  const MemoryForecast forecast = forecast_memory(context);
  MemoryForecast::Bytes sum;
  for (const auto& line : forecast.lines) {
    EXPECT_LE(line.bytes.starved, line.bytes.full) << line.op;
    sum.full += line.bytes.full;
    sum.starved += line.bytes.starved;
  }
  EXPECT_EQ(sum.full, forecast.total.full);
  EXPECT_EQ(sum.starved, forecast.total.starved);
  const auto running = make_pipeline(context);
  for (int i = 0; i < 8; ++i) {
    const BatchLease batch = running->next();
    std::uint64_t held = 0;
    for (const auto& one : running->counters()) held += one.bytes_held;
    EXPECT_LE(held, forecast.total.full);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, Forecast, testing::ValuesIn(spec::preset_names().begin(), spec::preset_names().end()),
                         ParamName());

TEST(ForecastOfShuffle, CountsNoMoreThanAnEpochHas) {
  const auto pipeline = spec::preset("naive");
  const MemoryForecast forecast = forecast_memory(context_of(xrays(DataFormat::png), pipeline, {}));
  for (const auto& line : forecast.lines) {
    if (line.op == "shuffle") {
      EXPECT_THAT(line.what, HasSubstr("24 decoded images"));
    }
  }
}

class Synthetic : public testing::TestWithParam<Deliver> {};

TEST_P(Synthetic, HandsOutFullBatchesMadeOnce) {
  const dataset::Dataset nothing{.format = DataFormat::synthetic};
  const auto pipeline = spec::preset("optimized");
  const auto running = make_pipeline(context_of(nothing, pipeline, {.deliver = GetParam()}));
  const std::byte* memory = nullptr;
  std::vector<Delivered> first;
  for (int i = 0; i < 5; ++i) {
    const BatchLease batch = running->next();
    ASSERT_EQ(batch->valid, 4);
    if (i == 0) first = images_of(*batch);
    if (i > 0) {
      EXPECT_EQ(batch->images, memory) << "a batch that was given back comes again";
    }
    if (i > 0) {
      EXPECT_EQ(images_of(*batch), first);
    }
    memory = batch->images;
    if (GetParam() == Deliver::f32) {
      for (const float value : batch->f32()) ASSERT_TRUE(std::isfinite(value) && std::abs(value) < 3);
    }
  }
  EXPECT_EQ(running->counters().size(), 1u);
  EXPECT_EQ(running->counters()[0].elements_out, 5u);
  running->stop();
  EXPECT_FALSE(running->next());
}

INSTANTIATE_TEST_SUITE_P(Delivers, Synthetic, testing::Values(Deliver::f32, Deliver::u8));

}  // namespace
}  // namespace chexbench::pipeline::test
