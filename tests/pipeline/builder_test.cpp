// Tests the translation of op lists into ops: its errors, and what the ops learn about each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "pipeline/tiny_set.hpp"

namespace chexbench::pipeline::test {
namespace {

using spec::DataFormat;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal(std::vector<spec::OpSpec> ops) {
  const TinySet set({2});
  const spec::PipelineSpec pipeline = list(std::move(ops));
  return message_of<SpecError>([&] { make_pipeline(context_of(set.of(DataFormat::png), pipeline, {})); });
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
  Resources resources(context_of(set.of(DataFormat::png), pipeline, {}));
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
  Resources resources(context_of(set.of(DataFormat::png), pipeline, {.on_bad_record = on_bad_record}));
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

}  // namespace
}  // namespace chexbench::pipeline::test
