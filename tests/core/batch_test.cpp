#include "core/batch.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/affinity.hpp"
#include "core/allocator.hpp"

namespace chexbench {
namespace {

constexpr BatchShape kShape{.images = 4, .height = 8, .width = 8, .deliver = Deliver::f32};

// Counts live allocations, so that a leak or a double free shows.
class CountingAllocator : public PinnedAllocator {
 public:
  std::byte* allocate(std::size_t bytes) override {
    ++live_;
    return host_allocator().allocate(bytes);
  }
  void deallocate(std::byte* memory, std::size_t bytes) noexcept override {
    --live_;
    host_allocator().deallocate(memory, bytes);
  }
  int live() const { return live_; }

 private:
  std::atomic<int> live_{0};
};

TEST(BatchShape, SaysHowManyLabelsAnImageHas) {
  EXPECT_EQ(kShape.labels, kNihLabels);
  auto pool = BatchPool::create({.images = 2, .height = 1, .width = 1, .labels = 300}, 1, host_allocator());
  const BatchLease lease = pool->acquire({});
  EXPECT_EQ(lease->labels.size(), 600u);
  EXPECT_EQ(lease->label(1).data(), lease->labels.data() + 300);
  EXPECT_EQ(lease->label(1).size(), 300u);
}

TEST(BatchShape, ReckonsBytes) {
  EXPECT_EQ(kShape.image_bytes(), 8u * 8 * 3 * 4);
  EXPECT_EQ(kShape.bytes(), 4u * 8 * 8 * 3 * 4);
  const BatchShape gray{.images = 2, .height = 8, .width = 4, .deliver = Deliver::u8};
  EXPECT_EQ(gray.channels(), 1);
  EXPECT_EQ(gray.bytes(), 2u * 8 * 4);
}

TEST(HostAllocator, GivesWritableMemoryAlignedTo64ForAnySize) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{5} << 20}) {
    std::byte* memory = host_allocator().allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    if (bytes > 0) memory[0] = memory[bytes - 1] = std::byte{7};
    host_allocator().deallocate(memory, bytes);
  }
}

class BatchPoolTest : public testing::Test {
 protected:
  CountingAllocator allocator_;
  std::shared_ptr<BatchPool> pool_ = BatchPool::create(kShape, 2, allocator_);
  std::stop_source stop_;
};

TEST_F(BatchPoolTest, LendsBatchesOfItsShapeReadyToFill) {
  const BatchLease lease = pool_->acquire(stop_.get_token());
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->shape, kShape);
  EXPECT_EQ(lease->valid, 0);
  EXPECT_EQ(lease->labels.size(), 4u * kNihLabels);
  EXPECT_EQ(lease->ids.size(), 4u);
  EXPECT_EQ(lease->f32().size(), 4u * 8 * 8 * 3);
  EXPECT_EQ(lease->image(3) - lease->image(0), static_cast<std::ptrdiff_t>(3 * kShape.image_bytes()));
  EXPECT_EQ(lease->label(1).data(), lease->labels.data() + kNihLabels);
  EXPECT_EQ(lease->label(3).size(), static_cast<std::size_t>(kNihLabels));
}

TEST_F(BatchPoolTest, AllocatesOnlyWhatIsAskedFor) {
  EXPECT_EQ(allocator_.live(), 0);
  { const BatchLease lease = pool_->acquire(stop_.get_token()); }
  { const BatchLease lease = pool_->acquire(stop_.get_token()); }
  EXPECT_EQ(allocator_.live(), 1) << "a batch that came back is lent again";
}

TEST_F(BatchPoolTest, ForgetsHowManyImagesWereValid) {
  {
    const BatchLease lease = pool_->acquire(stop_.get_token());
    lease->valid = 4;
  }
  EXPECT_EQ(pool_->acquire(stop_.get_token())->valid, 0);
}

TEST_F(BatchPoolTest, LendsEachBatchToOneAtATime) {
  const BatchLease one = pool_->acquire(stop_.get_token());
  const BatchLease two = pool_->acquire(stop_.get_token());
  EXPECT_NE(one->images, two->images);
  EXPECT_EQ(allocator_.live(), 2);
}

TEST_F(BatchPoolTest, WaitsWhileAllAreLentAndGoesOnWhenOneComesBack) {
  BatchLease one = pool_->acquire(stop_.get_token());
  const BatchLease two = pool_->acquire(stop_.get_token());
  const std::byte* returned = one->images;
  std::atomic<bool> released{false};
  std::byte* received = nullptr;
  bool waited = false;
  std::thread waiting([&] {
    const BatchLease lease = pool_->acquire(stop_.get_token());
    waited = released;  // a pool that lent a third batch would get here first
    received = lease->images;
  });
  std::this_thread::yield();
  released = true;
  one.release();
  waiting.join();
  EXPECT_TRUE(waited);
  EXPECT_EQ(received, returned);
  EXPECT_EQ(allocator_.live(), 2);
}

TEST_F(BatchPoolTest, GivesAnEmptyLeaseOnceStopIsRequested) {
  const BatchLease one = pool_->acquire(stop_.get_token());
  const BatchLease two = pool_->acquire(stop_.get_token());
  bool empty = false;
  std::thread waiting([&] { empty = !pool_->acquire(stop_.get_token()); });
  stop_.request_stop();
  waiting.join();
  EXPECT_TRUE(empty);
}

TEST_F(BatchPoolTest, LivesAsLongAsItsLastLease) {
  BatchLease lease = pool_->acquire(stop_.get_token());
  const std::weak_ptr<BatchPool> watched = pool_;
  pool_.reset();
  ASSERT_FALSE(watched.expired());
  lease->image(3)[0] = std::byte{1};  // ASan would report this if the memory had been freed
  lease.release();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(allocator_.live(), 0);
}

TEST_F(BatchPoolTest, LeaseIsReturnedOnceHoweverItIsMoved) {
  BatchLease one = pool_->acquire(stop_.get_token());
  BatchLease moved = std::move(one);
  moved.release();
  moved.release();
  EXPECT_FALSE(moved);
  BatchLease a = pool_->acquire(stop_.get_token());
  BatchLease b = pool_->acquire(stop_.get_token());
  EXPECT_NE(a->images, b->images);
  a = std::move(b);  // frees the memory of `a`
  EXPECT_TRUE(a);
  EXPECT_TRUE(pool_->acquire(stop_.get_token()));
}

TEST_F(BatchPoolTest, NeverLendsOneBatchToTwoThreads) {
  std::mutex mutex;
  std::set<const std::byte*> lent;
  std::atomic<bool> shared{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const BatchLease lease = pool_->acquire(stop_.get_token());
        {
          const std::lock_guard lock(mutex);
          if (!lent.insert(lease->images).second) shared = true;
        }
        lease->valid = round;
        const std::lock_guard lock(mutex);
        lent.erase(lease->images);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(shared);
  EXPECT_LE(allocator_.live(), 2);
}

// The number of malloc's arenas, from its own statistics.
std::size_t arenas() {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* file = open_memstream(&text, &bytes);
  malloc_info(0, file);
  std::fclose(file);
  const std::string told(text, bytes);
  std::free(text);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = told.find("<heap nr=", at)) != std::string::npos; ++at) ++count;
  return count;
}

// A separate process, because the limit cannot be undone.
TEST(MallocArenas, AreNoMoreThanCpus) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unsetenv("MALLOC_ARENA_MAX");
        limit_malloc_arenas();
        const std::size_t cpus = usable_cpus().size();
        std::barrier all_have_memory(static_cast<std::ptrdiff_t>(4 * cpus));
        {
          std::vector<std::jthread> threads;
          for (std::size_t i = 0; i < 4 * cpus; ++i) {
            threads.emplace_back([&] {
              const auto memory = std::make_unique<std::vector<char>>(1000);
              all_have_memory.arrive_and_wait();
            });
          }
        }
        std::exit(arenas() <= cpus ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace chexbench
