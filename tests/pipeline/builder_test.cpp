// Tests the translation of op lists into ops: its errors, and what the ops learn about each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "core/scratch.hpp"
#include "pipeline/harness.hpp"
#include "pipeline/tiny_set.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::pipeline::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using spec::DataFormat;

std::string refusal(std::vector<spec::OpSpec> ops) {
  const TinySet set({2});
  const spec::PipelineSpec pipeline = list(std::move(ops));
  return message_of<SpecError>([&] { make_pipeline(context_of(set.of(DataFormat::images), pipeline, {})); });
}

TEST(BuildOps, RefusesAListNamingTheOpAndItsPlace) {
  const auto files = op("list_files"), read = op("read"), repeat = op("repeat");
  const auto batch = op("map_and_batch");
  const auto shuffle = op("shuffle", {{"buffer", "all"}});
  EXPECT_THAT(refusal({}), HasSubstr("has no ops"));
  EXPECT_THAT(refusal({files, read}), HasSubstr("ends in records"));
  EXPECT_THAT(refusal({files, spec::OpSpec{"interlave", {}}, batch}), HasSubstr("did you mean 'interleave'?"));
  EXPECT_THAT(refusal({read, batch}), HasSubstr("pipeline[0]"));
  EXPECT_THAT(refusal({files, read, batch, op("map")}), AllOf(HasSubstr("pipeline[3]"), HasSubstr("takes records")));
  EXPECT_THAT(refusal({files, repeat, read, op("cache"), batch}),
              AllOf(HasSubstr("pipeline[3] of 'test': cache"), HasSubstr("put it before repeat")));
  EXPECT_THAT(refusal({files, repeat, read, batch, shuffle}),
              AllOf(HasSubstr("pipeline[4] of 'test': shuffle"), HasSubstr("never ends")));
}

TEST(BuildOps, TellsOpsTheirPlaceAndTheKindThatComesThrough) {
  const TinySet set({2});
  const auto pipeline = list({op("list_files"), op("prefetch"), op("read"), op("prefetch"), op("map"), op("prefetch"),
                              op("batch"), op("prefetch")});
  Resources resources(context_of(set.of(DataFormat::images), pipeline, {}));
  const auto ops = build_ops(resources);
  using enum spec::ElementKind;
  const std::vector kinds = {file, file, record, record, example, example, batch, batch};
  for (std::size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i]->kind(), kinds[i]) << i;
    EXPECT_EQ(ops[i]->index(), i);
    EXPECT_EQ(ops[i]->name(), pipeline.ops[i].op);
  }
}

TEST(BuildOps, StartsNoThread) {
  const TinySet set({2});
  const auto pipeline = list({op("list_files"), op("interleave"), op("map", {{"parallel_calls", std::int64_t{4}}}),
                              op("batch"), op("prefetch")});
  const std::size_t before = thread_count();
  Resources resources(context_of(set.of(DataFormat::tfrecord), pipeline, {}));
  const auto ops = build_ops(resources);
  EXPECT_TRUE(threads_fall_to(before));
}

// Returns the batches that an endless list needs.
std::size_t batches_for(std::vector<spec::OpSpec> ops, spec::OnBadRecord on_bad_record = spec::OnBadRecord::stop) {
  const TinySet set({2});
  std::vector<spec::OpSpec> all = {op("list_files"), op("repeat"), op("read"), op("prefetch")};
  all.insert(all.end(), ops.begin(), ops.end());
  const spec::PipelineSpec pipeline = list(std::move(all));
  Resources resources(context_of(set.of(DataFormat::images), pipeline, {.on_bad_record = on_bad_record}));
  return batches_in_use(build_ops(resources));
}

TEST(BatchesInUse, AreThoseOfTheOpsThatHoldBatchesAndOfTheConsumer) {
  const auto map_and_batch = op("map_and_batch", {{"parallel_batches", std::int64_t{2}}});
  const auto prefetch = op("prefetch", {{"buffer", std::int64_t{4}}});
  EXPECT_EQ(batches_for({op("map"), op("batch")}), 1 + kLeasesOut);
  EXPECT_EQ(batches_for({map_and_batch}), 2 + kLeasesOut);
  EXPECT_EQ(batches_for({map_and_batch}, spec::OnBadRecord::skip), 3 + kLeasesOut);
  EXPECT_EQ(batches_for({map_and_batch, prefetch, op("shuffle", {{"buffer", std::int64_t{7}}})}), 13 + kLeasesOut);
  EXPECT_EQ(batches_for({map_and_batch, op("prefetch")}), 2 + 64 + kLeasesOut) << "as far as it may grow";
  EXPECT_EQ(batches_for({map_and_batch, op("take", {{"count", std::int64_t{3}}}), prefetch}), 5 + kLeasesOut);
}

// Tests errors before anything runs, the memory forecast, and ready-made batches.

using spec::DataFormat;

TEST(Builder, KnowsEveryOpOfTheTable) {
  const dataset::Dataset& dataset = xrays(DataFormat::images);
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
    make_pipeline(context_of(xrays(DataFormat::images), pipeline, {}));
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipeline[1]"));
  }
}

class Forecast : public testing::TestWithParam<std::string> {};

TEST_P(Forecast, BoundsWhatThePipelineHolds) {
  const auto pipeline = spec::preset(GetParam());
  const Setting setting{.size = 64, .deliver = Deliver::f32};
  const auto context = context_of(xrays(DataFormat::images), pipeline, setting);
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
  const MemoryForecast forecast = forecast_memory(context_of(xrays(DataFormat::images), pipeline, {}));
  for (const auto& line : forecast.lines) {
    if (line.op == "shuffle") {
      EXPECT_THAT(line.what, HasSubstr("24 decoded images"));
    }
  }
}

class Synthetic : public testing::TestWithParam<Deliver> {};

TEST_P(Synthetic, HandsOutFullBatchesMadeOnce) {
  const dataset::Dataset nothing{.format = DataFormat::ready};
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
