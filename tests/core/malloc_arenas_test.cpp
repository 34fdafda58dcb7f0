#include "core/allocator.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/affinity.hpp"

namespace chexbench {
namespace {

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
