#include "engine/onednn/headroom.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

namespace chexbench::engine::onednn {

void check_headroom() {
  // A generated kernel takes 256 KiB to 1 MiB, and the first product of matrices generates about twenty.
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  void* const block = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  ::munmap(block, kBytes);  // never touched, so it took a microsecond and no page
}

void check_threads(int team) {
  std::latch all(1);
  std::vector<std::jthread> threads;
  try {
    for (int i = 1; i < team; ++i) threads.emplace_back([&all] { all.wait(); });
  } catch (...) {
    all.count_down();
    throw;
  }
  all.count_down();
}

}  // namespace chexbench::engine::onednn
