#include "pipeline/element.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace chexbench::pipeline {
namespace {

TEST(ExamplePool, GivesBlocksAlignedForVectorCode) {
  const auto pool = std::make_shared<ExamplePool>(100);  // not a multiple of the alignment
  std::vector<ExampleMemory> held;
  for (int i = 0; i < 20; ++i) held.push_back(pool->acquire());
  for (const ExampleMemory& memory : held) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0u);
}

TEST(ExamplePool, LivesAsLongAsTheLastOfItsMemory) {
  auto pool = std::make_shared<ExamplePool>(100);
  const std::weak_ptr<ExamplePool> alive = pool;
  std::vector<ExampleMemory> held;
  for (int i = 0; i < 2; ++i) held.push_back(pool->acquire());
  pool.reset();
  held.pop_back();
  EXPECT_FALSE(alive.expired());
  std::memset(held.front().get(), 1, 100);
  held.pop_back();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace chexbench::pipeline
