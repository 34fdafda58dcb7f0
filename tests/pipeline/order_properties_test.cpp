// Compares shuffle, interleave and whole op lists with simple models of them.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>  // after gtest.h, which it does not include

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "pipeline/any_list.hpp"
#include "pipeline/model.hpp"
#include "pipeline/tiny_set.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;

RC_GTEST_PROP(ShuffleProperty, IsTheReservoirOfTfDataAndReadsNoFurtherThanItsBuffer, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 200);
  const auto buffer = *rc::gen::inRange<std::size_t>(1, 60);
  const auto epoch = *rc::gen::inRange<std::uint32_t>(0, 5);
  const int world = *rc::gen::inRange(1, 4);
  const Setting setting{
      .rank = *rc::gen::inRange(0, world), .world = world, .seed = *rc::gen::arbitrary<std::uint64_t>()};
  const bool sharded = count >= 3 && *rc::gen::arbitrary<bool>();
  dataset::Dataset dataset;
  dataset.images.resize(count);
  std::vector<spec::OpSpec> ops = {op("list_files")};
  std::vector<std::uint32_t> files(count);
  std::iota(files.begin(), files.end(), 0u);
  if (sharded) {
    ops.push_back(op("shard"));
    std::erase_if(files, [&](std::uint32_t file) { return static_cast<int>(file) % world != setting.rank; });
  }
  const std::size_t at = ops.size();
  ops.push_back(op("shuffle", {{"buffer", static_cast<std::int64_t>(buffer)}}));
  Chain chain(dataset, ops, setting);
  const auto iterator = chain.iterate(epoch);
  std::vector<std::uint32_t> order;
  Element element;
  while (iterator->next(element)) {
    order.push_back(std::get<FileRef>(element.value).file);
    RC_ASSERT(chain.at(at - 1).stats().elements_out.value() == std::min(files.size(), order.size() + buffer - 1));
  }
  const auto rank = sharded ? std::optional(setting.rank) : std::nullopt;
  RC_ASSERT(order == reservoir(files, buffer, shuffle_seed(setting.seed, at, rank, epoch)));
  std::ranges::sort(order);
  RC_ASSERT(order == files);
}

RC_GTEST_PROP(InterleaveProperty, DeliversInTheOrderOfTfData, ()) {
  const auto lengths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12));
  const auto cycle_length = *rc::gen::inRange<std::size_t>(1, 10);
  const auto block_length = *rc::gen::inRange<std::size_t>(1, 6);
  const TempFolder folder;
  dataset::Dataset dataset{.format = DataFormat::tfrecord};
  std::vector<std::vector<std::string>> files;
  for (const int length : lengths) {
    std::vector<std::string>& records = files.emplace_back();
    for (int i = 0; i < length; ++i) records.push_back(std::to_string(files.size()) + "/" + std::to_string(i));
    write_shard(dataset.shards.emplace_back(folder.path() + "/" + std::to_string(files.size())), records);
  }
  for (const bool parallel : {false, true}) {
    Chain chain(dataset, {op("list_files"), op("interleave", {{"cycle_length", static_cast<std::int64_t>(cycle_length)},
                                                              {"block_length", static_cast<std::int64_t>(block_length)},
                                                              {"parallel", parallel}})});
    const auto records = chain.iterate();
    std::vector<std::string> delivered;
    Element element;
    while (records->next(element)) {
      const auto& bytes = std::get<Record>(element.value).bytes;
      delivered.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    RC_ASSERT(delivered == interleaved(files, cycle_length, block_length));
  }
}

// Returns each image's tensor and labels from the simplest list, in the order of images.
std::vector<std::uint64_t> hashes_of(const dataset::Dataset& dataset, int size) {
  const auto simplest = list({op("list_files"), op("read"), op("map"), op("batch")});
  std::vector<std::uint64_t> hashes;
  for (const Delivered& image : run(dataset, simplest, {.batch = 1, .size = size})) hashes.push_back(image.hash);
  return hashes;
}

// Takes every batch, and holds as many as a consumer may.
std::vector<std::vector<Delivered>> batches_of(Pipeline& pipeline) {
  std::vector<std::vector<Delivered>> batches;
  std::deque<BatchLease> held;
  while (BatchLease batch = pipeline.next()) {
    batches.push_back(images_of(*batch));
    held.push_back(std::move(batch));
    if (held.size() == kLeasesOut) held.pop_front();
  }
  return batches;
}

RC_GTEST_PROP(OpListProperty, AnyListDeliversTheImagesOfAPlainModelAndTheTensorsOfTheSimplestList, ()) {
  const auto lengths = *rc::gen::resize(
      8, rc::gen::suchThat(rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 5)),
                           [](const auto& drawn) { return std::reduce(drawn.begin(), drawn.end()) > 0; }));
  const TinySet set(lengths);
  const auto format = *rc::gen::element(DataFormat::images, DataFormat::tfrecord);
  const dataset::Dataset& dataset = set.of(format);
  const int world = *rc::gen::inRange(1, static_cast<int>(std::min<std::size_t>(dataset.files(), 3)) + 1);
  const Setting setting{.batch = *rc::gen::inRange(1, 6),
                        .size = 16,
                        .rank = *rc::gen::inRange(0, world),
                        .world = world,
                        .seed = *rc::gen::arbitrary<std::uint64_t>(),
                        .threads = *rc::gen::inRange<std::size_t>(1, 4)};
  const spec::PipelineSpec pipeline = AnyList(set.folder() + "/cache").draw();
  const std::vector<std::size_t> each_one(set.images(), 1);
  ListModel model(format == DataFormat::images ? each_one : lengths, pipeline, setting);
  const auto expected = model.delivered();
  RC_PRE(!model.has_empty_epoch());
  const std::vector<std::uint64_t> hashes = hashes_of(set.of(DataFormat::images), setting.size);
  RC_ASSERT(std::set(hashes.begin(), hashes.end()).size() == set.images());

  const std::size_t threads = thread_count();
  auto running = make_pipeline(context_of(dataset, pipeline, setting));
  const auto batches = batches_of(*running);
  RC_ASSERT(batches.size() == expected.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    RC_ASSERT(ids(batches[i]) == expected[i]);
    for (const Delivered& image : batches[i]) RC_ASSERT(image.hash == hashes[image.id.image]);
  }
  running.reset();
  RC_ASSERT(threads_fall_to(threads));
}

}  // namespace
}  // namespace chexbench::pipeline::test
