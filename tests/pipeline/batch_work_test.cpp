// Tests that workers which run out of memory end a pass of map_and_batch and worker_batches, instead of leaving a slot
// of a batch unfinished, for which the consumer would wait for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <new>
#include <utility>

#include "pipeline/batch_work.hpp"
#include "pipeline/tiny_set.hpp"

namespace {

constexpr int kNever = -1;
thread_local int allocations_before_failure = kNever;  // of this thread
std::atomic<int> failed_allocations = 0;

}  // namespace

// Not inlined, because GCC would warn about free() in a caller.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (allocations_before_failure != kNever && allocations_before_failure-- == 0) {
    ++failed_allocations;
    return nullptr;
  }
  return std::malloc(std::max<std::size_t>(bytes, 1));
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace chexbench::pipeline::test {
namespace {

constexpr std::size_t kBad = 2;  // the image that cannot be read

// A pass over 12 images in batches of 4, with one worker, which takes the parameter's number of records at once.
class BatchWorkOutOfMemory : public testing::TestWithParam<std::size_t> {
 protected:
  BatchWorkOutOfMemory() { std::filesystem::remove(set_.of(spec::DataFormat::images).images[kBad].path); }

  // Takes all batches of a pass in which an allocation of the worker fails, the one after `good` ones since its first
  // record came. Returns false if the consumer waited for ever.
  bool ends_without_memory(int good) {
    const auto make_take = [this, good](const std::stop_token& stop) {
      return [good, records = std::shared_ptr(chain_.at(1).iterate(0, stop)), first = true](Element& record) mutable {
        const bool any = records->next(record);
        if (std::exchange(first, false)) allocations_before_failure = good;
        return any;
      };
    };
    std::stop_source stop;
    LoaderSet loaders(chain_.at(2), 1);
    ThreadPool pool(1);
    BatchWorkIterator batches(chain_.at(2), make_take, {.batches = 2, .records_at_once = GetParam()}, loaders, pool,
                              stop.get_token());
    const auto consumer = std::async(std::launch::async, [&batches] {
      try {
        for (Element batch; batches.next(batch);) batch = {};
      } catch (const std::bad_alloc&) {
        return;
      }
    });
    const bool ended = consumer.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    stop.request_stop();
    return ended;
  }

  const TinySet set_{{12}};
  Chain chain_{set_.of(spec::DataFormat::images),
               {op("list_files"), op("read"), op("map_and_batch")},
               {.batch = 4, .size = 8, .on_bad_record = spec::OnBadRecord::skip}};
};

TEST_P(BatchWorkOutOfMemory, EndsThePassWhicheverAllocationFails) {
  int good = 0;
  for (int before = -1; before != failed_allocations; ++good) {
    before = failed_allocations;
    ASSERT_TRUE(ends_without_memory(good)) << "after " << good << " allocations";
  }
  EXPECT_GT(good, 20);
}

INSTANTIATE_TEST_SUITE_P(RecordsAtOnce, BatchWorkOutOfMemory, testing::Values(1u, 3u, 4u));

}  // namespace
}  // namespace chexbench::pipeline::test
