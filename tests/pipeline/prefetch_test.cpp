// Tests prefetch with buffer "auto": when the buffer grows, and how far.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {
namespace {

using testing::ElementsAre;

// A list of files with a prefetch after it, whose thread the test can wait for.
class AutoPrefetch : public testing::Test {
 protected:
  AutoPrefetch() { dataset_.images.resize(100000); }

  std::uint64_t capacity(Chain& chain) const { return chain.at(1).stats().queue_capacity.value(); }
  // Waits until the source has given `count` elements; all except the last are in the buffer then.
  void wait_for(Chain& chain, std::uint64_t count) const {
    while (chain.at(0).stats().elements_out.value() < count) std::this_thread::yield();
  }

  dataset::Dataset dataset_;
};

TEST_F(AutoPrefetch, DoublesUpToItsBoundAndStaysThere) {
  // The delay lets the test empty the buffer faster than it is filled.
  Chain chain(dataset_, {op("list_files", {{"delay_s", 2e-5}}), op("prefetch", {{"buffer", "auto"}})});
  const auto iterator = chain.iterate();
  std::vector<std::uint64_t> capacities = {capacity(chain)};
  std::uint64_t taken = 0;
  int rounds_at_bound = 0;
  Element element;
  while (rounds_at_bound < 3) {
    const std::uint64_t buffer = capacity(chain);
    wait_for(chain, taken + buffer);
    for (std::uint64_t i = 0; i < 2 * buffer; ++i, ++taken) ASSERT_TRUE(iterator->next(element)) << "it did not grow";
    if (capacity(chain) != capacities.back()) capacities.push_back(capacity(chain));
    if (capacity(chain) >= 64) ++rounds_at_bound;
  }
  EXPECT_THAT(capacities, ElementsAre(2u, 4u, 8u, 16u, 32u, 64u));
}

TEST_F(AutoPrefetch, StaysAsItIsWhileItIsNeverEmpty) {
  Chain chain(dataset_, {op("list_files"), op("prefetch", {{"buffer", "auto"}})});
  const auto iterator = chain.iterate();
  Element element;
  for (std::uint64_t taken = 0; taken < 300; ++taken) {
    wait_for(chain, taken + 2);
    ASSERT_TRUE(iterator->next(element));
  }
  EXPECT_EQ(capacity(chain), 2u);
}

TEST_F(AutoPrefetch, StartsSmallAgainInEveryEpoch) {
  Chain chain(dataset_, {op("list_files"), op("prefetch", {{"buffer", "auto"}})});
  Element element;
  auto iterator = chain.iterate(0);
  while (capacity(chain) == 2 && iterator->next(element)) {
  }
  EXPECT_EQ(capacity(chain), 4u);
  iterator.reset();
  iterator = chain.iterate(1);
  EXPECT_EQ(capacity(chain), 2u);
}

TEST_F(AutoPrefetch, OfBatchesIsBoundByTheirBytes) {
  constexpr std::size_t kMostBytes = std::size_t{128} << 20;
  const auto most = [&](int batch, int size) {
    Chain chain(dataset_,
                {op("list_files"), op("repeat"), op("read"), op("map_and_batch"), op("prefetch", {{"buffer", "auto"}})},
                {.batch = batch, .size = size, .deliver = Deliver::f32});
    return static_cast<std::size_t>(chain.at(4).most_held_elements());
  };
  EXPECT_EQ(most(1, 32), 64u);
  EXPECT_EQ(most(16, 2048), 2u) << "less would be no buffer";
  const std::size_t batch_bytes = std::size_t{16} * 224 * 224 * 3 * sizeof(float);
  EXPECT_LE(most(16, 224) * batch_bytes, kMostBytes);
  EXPECT_GT((most(16, 224) + 1) * batch_bytes, kMostBytes);
}

}  // namespace
}  // namespace chexbench::pipeline::test
