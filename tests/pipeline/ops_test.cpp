// Tests shard, take, repeat, prefetch, map and cache, each separately.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using testing::ElementsAre;
using testing::HasSubstr;

struct Seen {
  std::uint32_t file;
  std::uint32_t epoch;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> seen(Iterator& iterator) {
  std::vector<Seen> result;
  Element element;
  while (iterator.next(element)) result.push_back({std::get<FileRef>(element.value).file, element.epoch});
  return result;
}

TEST(Shard, KeepsEveryNthFromItsRank) {
  const dataset::Dataset dataset = files(8);
  Chain chain(dataset, {op("list_files"), op("shard")}, {.rank = 1, .world = 3});
  EXPECT_THAT(seen(*chain.iterate()), ElementsAre(Seen{1, 0}, Seen{4, 0}, Seen{7, 0}));
}

TEST(Shard, RefusesMoreRanksThanFiles) {
  const dataset::Dataset dataset = files(2);
  try {
    Chain chain(dataset, {op("list_files"), op("shard")}, {.world = 3});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 ranks but only 2 files"));
  }
  EXPECT_NO_THROW(Chain(dataset, {op("list_files"), op("read"), op("shard")}, {.world = 3}));
}

TEST(Take, EndsAfterItsCountAndCountsAnewEachEpoch) {
  const dataset::Dataset dataset = files(8);
  Chain chain(dataset, {op("list_files"), op("take", {{"count", std::int64_t{2}}}),
                        op("repeat", {{"epochs", std::int64_t{2}}})});
  EXPECT_THAT(seen(*chain.iterate()), ElementsAre(Seen{0, 0}, Seen{1, 0}, Seen{0, 1}, Seen{1, 1}));
}

TEST(Repeat, NestsWithEpochsThatFollowEachOther) {
  const dataset::Dataset dataset = files(1);
  Chain chain(dataset, {op("list_files"), op("repeat", {{"epochs", std::int64_t{2}}}),
                        op("repeat", {{"epochs", std::int64_t{2}}})});
  EXPECT_THAT(seen(*chain.iterate()), ElementsAre(Seen{0, 0}, Seen{0, 1}, Seen{0, 2}, Seen{0, 3}));
}

TEST(Repeat, SaysSoWhenAnEpochIsEmptyInsteadOfSpinning) {
  const dataset::Dataset dataset = files(1);
  Chain chain(dataset, {op("list_files"), op("read"), op("shard"), op("repeat")}, {.rank = 1, .world = 2});
  Element element;
  const auto iterator = chain.iterate();
  EXPECT_THROW(iterator->next(element), DataError);
}

TEST(Prefetch, DeliversAllInOrderAndNeverHoldsMoreThanItsBuffer) {
  const dataset::Dataset dataset = files(100);
  Chain chain(dataset, {op("list_files"), op("prefetch", {{"buffer", std::int64_t{3}}})});
  const auto iterator = chain.iterate();
  Element element;
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(iterator->next(element));
    EXPECT_EQ(std::get<FileRef>(element.value).file, i);
    EXPECT_LE(chain.at(0).stats().elements_out.value(), i + 1 + 3 + 1);
  }
  EXPECT_FALSE(iterator->next(element));
}

TEST(Prefetch, CanBeLeftInTheMiddleByTake) {
  const dataset::Dataset dataset = files(100);
  Chain chain(dataset, {op("list_files"), op("prefetch", {{"buffer", std::int64_t{3}}}),
                        op("take", {{"count", std::int64_t{1}}}), op("repeat", {{"epochs", std::int64_t{50}}})});
  EXPECT_EQ(seen(*chain.iterate()).size(), 50u);
}

TEST(Prefetch, AutoGrowsOnlyAfterItWasFullAndThenEmpty) {
  const dataset::Dataset dataset = files(100000);
  Chain chain(dataset, {op("list_files"), op("prefetch", {{"buffer", "auto"}})});
  const auto iterator = chain.iterate();
  EXPECT_EQ(chain.at(1).stats().queue_capacity.value(), 2u);
  Element element;
  while (chain.at(1).stats().queue_capacity.value() == 2 && iterator->next(element)) {
  }
  EXPECT_EQ(chain.at(1).stats().queue_capacity.value(), 4u);
}

TEST(Prefetch, PassesAnErrorOnBehindTheElementsBeforeIt) {
  const TempFolder folder;
  dataset::Dataset dataset{.format = DataFormat::tfrecord};
  dataset.shards = {folder.path() + "/a", folder.path() + "/missing"};
  write_shard(dataset.shards[0], {"one", "two"});
  for (const bool parallel : {false, true}) {
    Chain chain(dataset,
                {op("list_files"), op("interleave", {{"cycle_length", std::int64_t{1}}, {"parallel", parallel}}),
                 op("prefetch")});
    const auto iterator = chain.iterate();
    Element element;
    EXPECT_TRUE(iterator->next(element));
    EXPECT_TRUE(iterator->next(element));
    EXPECT_THROW(iterator->next(element), DataError);
  }
}

// A cache after files, records, examples and batches, in memory and in a file.
class Cache : public testing::TestWithParam<std::tuple<int, bool, DataFormat>> {};

TEST_P(Cache, ServesLaterEpochsWithoutDoingTheWorkAgain) {
  const auto [place, in_file, format] = GetParam();
  const TempFolder folder;
  const std::string to = in_file ? folder.path() + "/cache" : "memory";
  std::vector<spec::OpSpec> ops = {op("list_files"), op("read"), op("map"), op("batch"),
                                   op("repeat", {{"epochs", std::int64_t{3}}})};
  ops.insert(ops.begin() + place, op("cache", {{"to", to}}));
  const auto pipeline = list(ops);
  const auto running = make_pipeline(context_of(xrays(format), pipeline, {}));
  std::vector<Delivered> expected;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch)
    std::ranges::copy(reference({}, epoch), std::back_inserter(expected));
  EXPECT_EQ(sorted(drain(*running)), expected);

  const auto counters = running->counters();
  EXPECT_EQ(counters[static_cast<std::size_t>(place) - 1].elements_out * 3,
            counters[static_cast<std::size_t>(place)].elements_out);
  std::uint64_t decoded = 0;
  std::uint64_t read = 0;
  for (const auto& one : counters) {
    decoded += one.images_decoded;
    read += one.bytes_read;
  }
  EXPECT_EQ(decoded, place > 2 ? 24u : 72u);
  EXPECT_EQ(read, xrays(format).total_bytes * (place > 1 ? 1 : 3));
  EXPECT_EQ(std::filesystem::exists(folder.path() + "/cache.0-of-1"), in_file);
}

INSTANTIATE_TEST_SUITE_P(Places, Cache,
                         testing::Combine(testing::Values(1, 2, 3, 4), testing::Bool(),
                                          testing::Values(DataFormat::images, DataFormat::tfrecord)));

// A cache whose budget fits a part of an epoch, after records and after images.
class CacheBudget : public testing::TestWithParam<std::tuple<std::size_t, bool, DataFormat>> {
 protected:
  static constexpr std::size_t kKept = 10;
  static constexpr std::size_t kHeaderBytes = 16 + 4 + kNihLabels;  // header of the encoded form of an image

  std::size_t place() const { return std::get<0>(GetParam()); }
  const dataset::Dataset& dataset() const { return xrays(std::get<2>(GetParam())); }
  spec::PipelineSpec pipeline(std::int64_t max_bytes) const {
    std::vector<spec::OpSpec> ops = {
        op("list_files"), op("shuffle"),
        op("read"),       op("map", {{"parallel_calls", std::int64_t{std::get<1>(GetParam()) ? 4 : 1}}}),
        op("batch"),      op("repeat", {{"epochs", std::int64_t{3}}})};
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(place()), op("cache", {{"max_bytes", max_bytes}}));
    return list(ops);
  }
};

TEST_P(CacheBudget, KeepsWhatFitsAndMakesTheRestAgain) {
  const bool of_images = place() == 4;
  const std::size_t mean = of_images ? 32 * 32 + kHeaderBytes : dataset().total_bytes / 24;
  const spec::PipelineSpec ops = pipeline(static_cast<std::int64_t>(kKept * mean));
  const auto running = make_pipeline(context_of(dataset(), ops, {}));
  std::vector<Delivered> expected;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch)
    std::ranges::copy(reference({}, epoch), std::back_inserter(expected));
  EXPECT_EQ(sorted(drain(*running)), expected);
  std::uint64_t decoded = 0;
  for (const auto& one : running->counters()) decoded += one.images_decoded;
  EXPECT_EQ(decoded, of_images ? 24 + 2 * (24 - kKept) : 72u);
  const auto held = running->counters()[place()].bytes_held;
  EXPECT_LE(held, kKept * mean);
  EXPECT_GT(held, (kKept - 3) * mean);
}

TEST_P(CacheBudget, ThatHoldsNothingOrAllChangesNothing) {
  for (const std::int64_t max_bytes : {std::int64_t{1}, std::int64_t{1'000'000'000}}) {
    std::vector<Delivered> expected;
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch)
      std::ranges::copy(reference({}, epoch), std::back_inserter(expected));
    EXPECT_EQ(sorted(run(dataset(), pipeline(max_bytes), {})), expected) << max_bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Places, CacheBudget,
                         testing::Combine(testing::Values(3, 4), testing::Bool(),
                                          testing::Values(DataFormat::images, DataFormat::tfrecord,
                                                          DataFormat::webdataset, DataFormat::cached)));

TEST(CacheOp, RefusesABudgetWhereItCannotKnowItsElementsAgain) {
  const auto refusal = [](std::vector<spec::OpSpec> ops) {
    return message_of<SpecError>([&] { make_pipeline(context_of(xrays(DataFormat::images), list(ops), {})); });
  };
  const spec::OpSpec cache = op("cache", {{"max_bytes", std::int64_t{1000}}});
  EXPECT_THAT(refusal({op("list_files"), op("read"), op("map"), op("batch"), cache}), HasSubstr("it would get batch"));
  EXPECT_THAT(refusal({op("list_files"), op("read"), op("map"), op("take"), cache, op("batch")}),
              HasSubstr("cannot come after take"));
}

TEST(CacheFile, LeavesNothingBehindWhereTheFirstEpochDidNotEnd) {
  const TempFolder folder;
  const auto pipeline = list({op("list_files"), op("read"), op("cache", {{"to", folder.path() + "/cache"}}), op("map"),
                              op("batch"), op("repeat")});
  run(xrays(DataFormat::images), pipeline, {}, 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CacheFile, NamesTheFileThatCannotBeWritten) {
  const auto pipeline =
      list({op("list_files"), op("read"), op("cache", {{"to", "/nowhere/cache"}}), op("map"), op("batch")});
  EXPECT_THROW(run(xrays(DataFormat::images), pipeline, {}), OutputError);
}

TEST(CacheOp, RefusesToKeepWhatNeverEnds) {
  const dataset::Dataset dataset = files(3);
  EXPECT_THROW(Chain(dataset, {op("list_files"), op("repeat"), op("cache")}), SpecError);
}

TEST(Map, DeliversEverythingOnceWhereTheOrderIsFree) {
  const auto pipeline = list({op("list_files"), op("read"),
                              op("map", {{"parallel_calls", std::int64_t{6}}, {"deterministic", false}}), op("batch")});
  EXPECT_EQ(sorted(run(xrays(DataFormat::images), pipeline, {.threads = 4})), reference({}));
}

TEST(Map, KeepsTheOrderOfItsSerialTwin) {
  const auto with = [](std::int64_t calls) {
    const auto pipeline = list({op("list_files"), op("read"), op("map", {{"parallel_calls", calls}}), op("batch")});
    return run(xrays(DataFormat::images), pipeline, {.threads = 4});
  };
  EXPECT_EQ(with(1), with(7));
}

TEST(Batch, LastOneIsPartlyFilledWhereTheRemainderIsKept) {
  for (const char* batching : {"batch", "map_and_batch"}) {
    std::vector<spec::OpSpec> ops = {op("list_files"), op("read")};
    if (batching == std::string("batch")) ops.push_back(op("map"));
    ops.push_back(op(batching, {{"drop_remainder", false}}));
    const auto keep = list(ops);
    EXPECT_EQ(sorted(run(xrays(DataFormat::images), keep, {.batch = 7})), reference({})) << batching;
    ops.back() = op(batching);
    const auto drop = list(ops);
    EXPECT_EQ(run(xrays(DataFormat::images), drop, {.batch = 7}).size(), 21u) << batching;
  }
}

// The number of batches per rank is known only on average, so no buffer is sure to be large enough for "all" of them.
TEST(ShuffleOfBatches, TakesANumberOnly) {
  const std::vector<spec::OpSpec> before = {op("list_files"), op("read"), op("map"), op("batch")};
  const auto with = [&](spec::ParameterValue buffer) {
    std::vector<spec::OpSpec> ops = before;
    ops.push_back(op("shuffle", {{"buffer", std::move(buffer)}}));
    return list(std::move(ops));
  };
  EXPECT_EQ(run(xrays(DataFormat::images), with(std::int64_t{5}), {}).size(), 24u);
  try {
    make_pipeline(context_of(xrays(DataFormat::images), with(std::string("all")), {}));
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipeline[4] of 'test': shuffle"));
  }
}

// 24 images in 16 shards on 3 ranks: rank 0 has more than a third of them.
TEST(ShuffleOfBatches, EndsOnARankWithMoreThanItsShare) {
  const auto pipeline = list({op("list_files"), op("shard"), op("interleave"), op("map"), op("batch"),
                              op("shuffle", {{"buffer", std::int64_t{100}}})});
  std::size_t images = 0;
  for (int rank = 0; rank < 3; ++rank) {
    images += run(xrays(DataFormat::tfrecord), pipeline, {.batch = 1, .rank = rank, .world = 3}).size();
  }
  EXPECT_EQ(images, 24u);
}

}  // namespace
}  // namespace chexbench::pipeline::test
