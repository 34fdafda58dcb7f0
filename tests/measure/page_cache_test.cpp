#include "measure/page_cache.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::measure {
namespace {

using spec::PageCache;
using testing::HasSubstr;

constexpr std::uint64_t kFirstBytes = 300'001;  // ends within a page
constexpr std::uint64_t kSecondBytes = 8'192;

class PageCacheTest : public testing::Test {
 protected:
  static std::string make_file(const std::string& path, std::uint64_t bytes) {
    write_text(path, std::string(bytes, 'x'));
    return path;
  }
  bool on_tmpfs() const {
    struct statfs system {};
    statfs(folder_.path().c_str(), &system);
    return system.f_type == TMPFS_MAGIC;
  }

  const ScratchFolder folder_;
  const std::vector<std::string> paths_{make_file(folder_ / "first", kFirstBytes),
                                        make_file(folder_ / "second", kSecondBytes)};
};

TEST_F(PageCacheTest, AsIsTouchesNothing) {
  const PageCacheState state = prepare_page_cache(PageCache::as_is, std::vector<std::string>{folder_ / "missing"});
  EXPECT_EQ(state.word, "as_is");
  EXPECT_EQ(state.reason, "");
}

TEST_F(PageCacheTest, WarmLeavesEveryByteResident) {
  if (!on_tmpfs()) {
    prepare_page_cache(PageCache::cold, paths_);
  }
  const PageCacheState state = prepare_page_cache(PageCache::warm, paths_);
  EXPECT_EQ(state.word, "warm") << state.reason;
  EXPECT_EQ(state.files, 2u);
  EXPECT_EQ(state.bytes, kFirstBytes + kSecondBytes);
  EXPECT_EQ(state.resident_bytes, state.bytes);
}

TEST_F(PageCacheTest, ColdDropsFilesEvenThoseJustWritten) {
  if (on_tmpfs()) GTEST_SKIP() << folder_.path() << " is a file system in memory, which has no cache to drop";
  const PageCacheState state = prepare_page_cache(PageCache::cold, paths_);
  EXPECT_EQ(state.word, "cold") << state.reason;
  EXPECT_EQ(state.reason, "");
  EXPECT_EQ(state.bytes, kFirstBytes + kSecondBytes);
  EXPECT_EQ(state.resident_bytes, 0u);
}

TEST_F(PageCacheTest, ColdIsNotVerifiedOnAFileSystemInMemory) {
  struct statfs system {};
  if (statfs("/dev/shm", &system) != 0 || system.f_type != TMPFS_MAGIC) GTEST_SKIP() << "/dev/shm is no tmpfs";
  const std::string path = make_file("/dev/shm/chexbench_" + std::to_string(getpid()), kSecondBytes);
  const PageCacheState state = prepare_page_cache(PageCache::cold, std::vector{path});
  std::filesystem::remove(path);
  EXPECT_EQ(state.word, "cold (not verified)");
  EXPECT_THAT(state.reason, testing::AllOf(HasSubstr(path), HasSubstr("in memory")));
  EXPECT_EQ(state.resident_bytes, kSecondBytes);
}

TEST_F(PageCacheTest, ColdIsNotVerifiedWhereAnotherProgramHoldsAPage) {
  if (on_tmpfs()) GTEST_SKIP() << folder_.path() << " is a file system in memory";
  const int file = open(paths_[1].c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  void* memory = mmap(nullptr, kSecondBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const PageCacheState state = prepare_page_cache(PageCache::cold, paths_);
  munmap(memory, kSecondBytes);
  close(file);
  EXPECT_EQ(state.word, "cold (not verified)");
  EXPECT_THAT(state.reason, testing::AllOf(HasSubstr("second"), HasSubstr("8192 bytes stayed")));
}

TEST_F(PageCacheTest, IsNotVerifiedForFilesOfAnotherOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0711));
  for (const std::string& path : paths_) std::filesystem::permissions(path, std::filesystem::perms(0444));
  EXPECT_EXIT(
      {
        constexpr uid_t kNobody = 65534;
        if (setuid(kNobody) != 0) std::_Exit(1);
        const PageCacheState cold = prepare_page_cache(PageCache::cold, paths_);
        const PageCacheState warm = prepare_page_cache(PageCache::warm, paths_);
        const bool said = cold.reason.find("another user") != std::string::npos;
        std::_Exit(cold.word == "cold (not verified)" && warm.word == "warm (not verified)" && said ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(PageCacheTest, EmptyFilesAreInAnyState) {
  const std::vector<std::string> empty{make_file(folder_ / "empty", 0)};
  EXPECT_EQ(prepare_page_cache(PageCache::warm, empty).word, "warm");
  EXPECT_EQ(prepare_page_cache(PageCache::cold, empty).word, "cold");
}

TEST_F(PageCacheTest, NamesAFileThatCannotBeRead) {
  for (const PageCache goal : {PageCache::warm, PageCache::cold}) {
    EXPECT_THAT(message_of<DataError>([&] {
                  prepare_page_cache(goal, std::vector<std::string>{paths_[0], folder_ / "missing.png"});
                }),
                testing::AllOf(HasSubstr("missing.png"), HasSubstr("No such file or directory")));
  }
}

}  // namespace
}  // namespace chexbench::measure
