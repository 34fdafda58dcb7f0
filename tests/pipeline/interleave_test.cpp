#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>

#include "pipeline/harness.hpp"
#include "pipeline/tiny_set.hpp"
#include "storage/store.hpp"

namespace chexbench::pipeline::test {
namespace {

// A data set of shards whose records contain 100 * file + record as text.
dataset::Dataset numbered_shards(const TempFolder& folder, const std::vector<int>& lengths) {
  dataset::Dataset dataset{.format = spec::DataFormat::tfrecord};
  for (std::size_t file = 0; file < lengths.size(); ++file) {
    std::vector<std::string> payloads;
    for (int i = 0; i < lengths[file]; ++i) payloads.push_back(std::to_string(100 * static_cast<int>(file) + i));
    dataset.shards.push_back(folder.path() + "/shard-" + std::to_string(file));
    write_shard(dataset.shards.back(), payloads);
  }
  return dataset;
}

std::vector<int> numbers(Iterator& records) {
  std::vector<int> result;
  Element element;
  while (records.next(element)) {
    const auto& bytes = std::get<Record>(element.value).bytes;
    result.push_back(std::stoi(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  }
  return result;
}

// The sequential and the parallel reader deliver in the same order.
class Interleave : public testing::TestWithParam<bool> {};

TEST_P(Interleave, DeliversInTheOrderOfTfData) {
  const auto golden = nlohmann::json::parse(std::ifstream(CHEXBENCH_GOLDEN "/interleave.json"));
  ASSERT_GT(golden.at("cases").size(), 10u);
  for (const auto& one : golden.at("cases")) {
    const TempFolder folder;
    const dataset::Dataset dataset = numbered_shards(folder, one.at("file_lengths").get<std::vector<int>>());
    Chain chain(dataset,
                {op("list_files"), op("interleave", {{"cycle_length", one.at("cycle_length").get<std::int64_t>()},
                                                     {"block_length", one.at("block_length").get<std::int64_t>()},
                                                     {"parallel", GetParam()}})});
    EXPECT_EQ(numbers(*chain.iterate()), one.at("order").get<std::vector<int>>()) << one;
  }
}

TEST_P(Interleave, DeliversEveryRecordOnceWhereTheOrderIsFree) {
  const TempFolder folder;
  const std::vector<int> lengths = {5, 0, 17, 3, 1, 9, 30, 2};
  const dataset::Dataset dataset = numbered_shards(folder, lengths);
  Chain chain(dataset, {op("list_files"),
                        op("interleave",
                           {{"cycle_length", std::int64_t{3}}, {"deterministic", false}, {"parallel", GetParam()}})});
  std::vector<int> expected;
  for (int file = 0; file < 8; ++file) {
    for (int i = 0; i < lengths[static_cast<std::size_t>(file)]; ++i) expected.push_back(100 * file + i);
  }
  std::vector<int> delivered = numbers(*chain.iterate());
  std::ranges::sort(delivered);
  EXPECT_EQ(delivered, expected);
}

// Without threads every file is always ready, so a free order never differs from the fixed one.
TEST(InterleaveInFreeOrder, KeepsAsManyFilesOpenAsItMay) {
  const TempFolder folder;
  const dataset::Dataset dataset = numbered_shards(folder, {2, 5, 3, 1, 4, 6, 2, 3});
  const auto order_of = [&](bool deterministic) {
    Chain chain(
        dataset,
        {op("list_files"),
         op("interleave", {{"cycle_length", std::int64_t{3}}, {"deterministic", deterministic}, {"parallel", false}})});
    return numbers(*chain.iterate());
  };
  EXPECT_EQ(order_of(false), order_of(true));
}

TEST_P(Interleave, StartsOverAndCountsBytesAndElements) {
  const TempFolder folder;
  const dataset::Dataset dataset = numbered_shards(folder, {3, 2});
  Chain chain(dataset, {op("list_files"), op("interleave", {{"parallel", GetParam()}})});
  const auto first = numbers(*chain.iterate(0));
  EXPECT_EQ(numbers(*chain.iterate(1)), first);
  EXPECT_EQ(chain.at(1).stats().elements_out.value(), 10u);
  // Payloads of 1 (file 0) and 3 characters (file 1), 16 bytes of frame each, twice.
  EXPECT_EQ(chain.at(1).stats().bytes_read.value(), 2u * (3 * (1 + 16) + 2 * (3 + 16)));
  EXPECT_EQ(chain.at(1).stats().queue_depth.value(), 0u);
}

TEST_P(Interleave, CanBeLeftInTheMiddle) {
  const TempFolder folder;
  const dataset::Dataset dataset = numbered_shards(folder, std::vector<int>(12, 50));
  const std::size_t before = thread_count();
  for (int i = 0; i < 10; ++i) {
    Chain chain(dataset, {op("list_files"), op("interleave", {{"parallel", GetParam()}})});
    Element element;
    const auto records = chain.iterate();
    for (int k = 0; k < i; ++k) EXPECT_TRUE(records->next(element));
  }
  EXPECT_TRUE(threads_fall_to(before));
}

// A store whose first reads end only when `readers` threads read at once, or when a minute has passed.
class Meeting final : public storage::Store {
 public:
  explicit Meeting(std::size_t readers) : readers_(readers) {}
  std::vector<storage::StoreEntry> list(const std::string& folder) const override { return local_->list(folder); }
  std::optional<std::uint64_t> size(const std::string& path) const override { return local_->size(path); }
  std::unique_ptr<storage::ByteStream> stream(const std::string& path, std::stop_token stop) const override {
    return local_->stream(path, std::move(stop));
  }
  bool is_local() const override { return false; }
  std::span<const std::byte> read(const std::string& path, storage::ByteBuffer& buffer) const override {
    std::unique_lock lock(mutex_);
    ++waiting_;
    arrived_.notify_all();
    met_ |=
        arrived_.wait_for(lock, std::chrono::minutes(missed_ ? 0 : 1), [&] { return waiting_ >= readers_ || met_; });
    missed_ |= !met_;
    --waiting_;
    return local_->read(path, buffer);
  }
  bool met() const {
    const std::lock_guard lock(mutex_);
    return met_;
  }

 private:
  const std::shared_ptr<const storage::Store> local_ = storage::local_store();
  const std::size_t readers_;
  mutable std::mutex mutex_;
  mutable std::condition_variable arrived_;
  mutable std::size_t waiting_ = 0;
  mutable bool met_ = false;
  mutable bool missed_ = false;
};

// Files of a distant store are one record each: those of the cycle and twice as many after them are read at once.
TEST(InterleaveOfDistantFiles, ReadsThreeCyclesAtOnce) {
  const TinySet set({40});
  dataset::Dataset dataset = set.of(spec::DataFormat::images);
  const auto store = std::make_shared<const Meeting>(12);
  dataset.store = store;
  Chain chain(dataset, {op("list_files"), op("interleave", {{"cycle_length", std::int64_t{4}}})});
  const auto records = chain.iterate();
  Element element;
  std::size_t delivered = 0;
  while (records->next(element)) ++delivered;
  EXPECT_EQ(delivered, 40u);
  EXPECT_TRUE(store->met());
}

INSTANTIATE_TEST_SUITE_P(Twins, Interleave, testing::Bool(),
                         [](const auto& test) { return test.param ? "parallel" : "sequential"; });

}  // namespace
}  // namespace chexbench::pipeline::test
