#include "core/folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "core/scratch.hpp"

namespace chexbench {
namespace {

TEST(FolderLock, IsHeldByOneAtATimeAndLeavesNoFile) {
  const ScratchFolder folder;
  std::optional<FolderLock> first(folder.path());
  std::atomic<bool> has_it = false;
  std::thread second([&] {
    const FolderLock lock(folder.path());
    has_it = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(has_it);
  first.reset();
  second.join();
  EXPECT_TRUE(has_it);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FolderLock, OfAFolderThatIsNotThereDoesNothing) { const FolderLock lock("/nowhere/at/all"); }

}  // namespace
}  // namespace chexbench
