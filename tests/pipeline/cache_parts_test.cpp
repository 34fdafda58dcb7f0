// Tests the parts of the cache op: the codec and the two stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "pipeline/cache_store.hpp"
#include "pipeline/tiny_set.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class EveryStore : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<CacheStore> make() const { return GetParam() ? make_file_store(path_) : make_memory_store(); }
  std::vector<std::string> kept(const CacheStore& store) const {
    std::vector<std::string> blobs;
    for (std::size_t i = 0; i < store.size(); ++i) blobs.push_back(text_of(store.at(i).bytes));
    return blobs;
  }

  // Checks that `after` equals `before`, except that its epoch is 7.
  static void expect_same(const Element& before, const Element& after) {
    if (const auto* file = std::get_if<FileRef>(&before.value)) {
      EXPECT_EQ(std::get<FileRef>(after.value).file, file->file);
    } else if (const auto* record = std::get_if<Record>(&before.value)) {
      const auto& again = std::get<Record>(after.value);
      EXPECT_EQ(again.file, record->file);
      EXPECT_EQ(again.offset, record->offset);
      EXPECT_EQ(text_of(again.bytes), text_of(record->bytes));
    } else if (const auto* example = std::get_if<Example>(&before.value)) {
      const auto& again = std::get<Example>(after.value);
      EXPECT_EQ(again.id, (ExampleId{.image = example->id.image, .epoch = 7}));
      EXPECT_EQ(again.labels, example->labels);
      EXPECT_EQ(text_of({again.image.get(), kPixels}), text_of({example->image.get(), kPixels}));
    } else {
      std::vector<Delivered> expected = images_of(*std::get<BatchLease>(before.value));
      for (Delivered& image : expected) image.id.epoch = 7;
      EXPECT_EQ(images_of(*std::get<BatchLease>(after.value)), expected);
    }
  }

  static constexpr std::size_t kPixels = 64;  // of an image of 8 x 8
  const TempFolder folder_;
  const std::string path_ = folder_.path() + "/cache";
  const TinySet set_{{2, 3}};
  const std::stop_token never_;
};

TEST_P(EveryStore, KeepsBlobsInTheirOrder) {
  const auto store = make();
  store->add(as_bytes("he"), as_bytes("ader"));
  store->add(as_bytes("only a header"), {});
  store->add(as_bytes("x"), as_bytes(std::string(100000, 'y')));
  store->finish();
  EXPECT_THAT(kept(*store), ElementsAre("header", "only a header", "x" + std::string(100000, 'y')));
}

TEST_P(EveryStore, MayStayEmpty) {
  const auto store = make();
  EXPECT_EQ(store->size(), 0u);
  store->finish();
  EXPECT_EQ(store->size(), 0u);
}

TEST_P(EveryStore, LeavesABlobValidAsLongAsItsOwnerIsHeld) {
  CachedBlob blob;
  {
    const auto store = make();
    store->add(as_bytes("he"), as_bytes("ader"));
    store->finish();
    blob = store->at(0);
  }
  std::filesystem::remove_all(path_);
  EXPECT_EQ(text_of(blob.bytes), "header");
}

// Returns files, records, examples, and batches; the last batch is not full.
TEST_P(EveryStore, GivesElementsOfEveryKindBackWithAnotherEpoch) {
  const std::vector<spec::OpSpec> ops = {op("list_files"), op("read"), op("map"),
                                         op("batch", {{"drop_remainder", false}})};
  for (std::size_t last = 0; last < ops.size(); ++last) {
    Chain chain(set_.of(DataFormat::tfrecord), {ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(last) + 1},
                {.batch = 3, .size = 8});
    CacheCodec codec(chain.at(last));
    const auto store = make();
    std::vector<Element> before;
    std::size_t bytes = 0;
    const auto iterator = chain.iterate(1);
    for (Element element; before.size() < 2 && iterator->next(element); before.push_back(std::move(element))) {
      bytes += codec.add(element, *store);
    }
    store->finish();
    ASSERT_EQ(store->size(), 2u);
    EXPECT_EQ(store->at(0).bytes.size() + store->at(1).bytes.size(), bytes);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Element after = codec.restore(store->at(i), 7, never_);
      EXPECT_EQ(after.epoch, 7u);
      ASSERT_EQ(after.value.index(), before[i].value.index());
      expect_same(before[i], after);
    }
  }
}

// Files and shards alike: a record cannot mark a label as unknown, so its data set does.
TEST_P(EveryStore, KeepsIgnoredLabels) {
  for (const DataFormat format : {DataFormat::images, DataFormat::tfrecord}) {
    dataset::Dataset images = set_.of(format);
    images.has_unclear_labels = true;
    for (dataset::ImageEntry& image : images.images) {
      image.labels = {};
      image.labels.set(0);
      image.labels.ignore(2);
    }
    Chain chain(images, {op("list_files"), op("read"), op("map"), op("batch")}, {.batch = 2, .size = 8});
    for (const std::size_t last : {2u, 3u}) {
      CacheCodec codec(chain.at(last));
      const auto store = make();
      Element element;
      ASSERT_TRUE(chain.iterate(1)->next(element));
      if (last == 2) {
        Chain examples(images, {op("list_files"), op("read"), op("map")}, {.size = 8});
        ASSERT_TRUE(examples.iterate(1)->next(element));
      }
      codec.add(element, *store);
      store->finish();
      const Element after = codec.restore(store->at(0), 7, never_);
      if (last == 2) {
        const LabelBits& labels = std::get<Example>(after.value).labels;
        EXPECT_TRUE(labels.has(0) && labels.is_ignored(2) && !labels.is_ignored(1));
      } else {
        const auto labels = std::get<BatchLease>(after.value)->label(1);
        EXPECT_THAT(std::vector<float>(labels.begin(), labels.begin() + 4), ElementsAre(1, 0, kIgnoredLabel, 0));
      }
    }
  }
}

TEST_P(EveryStore, GivesCopiesOfImagesThatMayBeChanged) {
  Chain chain(set_.of(DataFormat::images), {op("list_files"), op("read"), op("map")}, {.size = 8});
  CacheCodec codec(chain.at(2));
  const auto store = make();
  Element element;
  ASSERT_TRUE(chain.iterate()->next(element));
  codec.add(element, *store);
  store->finish();
  const Element first = codec.restore(store->at(0), 0, never_);
  std::byte& pixel = *std::get<Example>(first.value).image;
  const std::byte original = pixel;
  pixel ^= std::byte{0xff};
  EXPECT_EQ(*std::get<Example>(codec.restore(store->at(0), 0, never_).value).image, original);
}

INSTANTIATE_TEST_SUITE_P(Stores, EveryStore, testing::Bool(),
                         [](const auto& test) { return test.param ? "file" : "memory"; });

TEST(CacheCodec, ReadsAPngOnceAndBooksItsBytes) {
  const TinySet set({1});
  const dataset::Dataset& dataset = set.of(DataFormat::images);
  Chain chain(dataset, {op("list_files"), op("read")});
  CacheCodec codec(chain.at(1));
  Element element{.value = Record{.file = 0}};
  for (int i = 0; i < 2; ++i) codec.load(element);
  EXPECT_EQ(text_of(std::get<Record>(element.value).bytes), read_text(dataset.images[0].path));
  EXPECT_EQ(chain.at(1).stats().bytes_read.value(), std::filesystem::file_size(dataset.images[0].path));
}

TEST(CacheCodec, GivesNoBatchOnceStopped) {
  const TinySet set({1});
  Chain chain(set.of(DataFormat::images), {op("list_files"), op("read"), op("map_and_batch")}, {.batch = 1, .size = 8});
  CacheCodec codec(chain.at(2));
  const auto store = make_memory_store();
  Element element;
  ASSERT_TRUE(chain.iterate()->next(element));
  codec.add(element, *store);
  std::stop_source stop;
  stop.request_stop();
  std::vector<BatchLease> all;
  BatchPool& pool = *chain.at(2).resources().batches;
  while (all.size() + 1 < pool.capacity()) all.push_back(pool.acquire({}));
  EXPECT_FALSE(std::get<BatchLease>(codec.restore(store->at(0), 1, stop.get_token()).value));
}

TEST(FileStore, TakesItsNameWhenItIsFinishedAndReplacesASpoiledFile) {
  const TempFolder folder;
  const std::string path = folder.path() + "/cache";
  write_text(path, "cut short by a full disk");
  const auto store = make_file_store(path);
  store->add(as_bytes("new"), as_bytes("er"));
  EXPECT_EQ(read_text(path), "cut short by a full disk");
  store->finish();
  EXPECT_EQ(read_text(path), "newer");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("cache"));
}

TEST(FileStore, NamesAFileThatMayNotGrowAndLeavesNothingOfIt) {
  const TempFolder folder;
  const TinySet set({3});
  const auto pipeline = list({op("list_files"), op("read"), op("map"), op("cache", {{"to", folder.path() + "/cache"}}),
                              op("batch"), op("repeat", {{"epochs", std::int64_t{2}}})});
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit low{10000, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const std::string message =
      message_of<OutputError>([&] { run(set.of(DataFormat::images), pipeline, {.batch = 1, .size = 128}); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, AllOf(HasSubstr(folder.path() + "/cache.0-of-1"), HasSubstr("File too large")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FileStore, OfASpoiledEarlierRunIsNeverRead) {
  const TinySet set({4});
  const std::string path = set.folder() + "/cache";
  const auto pipeline = list({op("list_files"), op("read"), op("cache", {{"to", path}}), op("map"), op("batch"),
                              op("repeat", {{"epochs", std::int64_t{2}}})});
  const Setting setting{.batch = 2, .size = 8};
  const auto expected = run(set.of(DataFormat::tfrecord), pipeline, setting);
  EXPECT_EQ(expected.size(), 8u);
  for (const char* spoiled : {"", "spoiled"}) {
    write_text(path + ".0-of-1", spoiled);
    EXPECT_EQ(run(set.of(DataFormat::tfrecord), pipeline, setting), expected);
  }
}

}  // namespace
}  // namespace chexbench::pipeline::test
