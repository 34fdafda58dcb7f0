#include "core/watched_mapping.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

constexpr std::size_t kBytes = 3 * 4096;

// A file of three pages, mapped.
class Mapped {
 public:
  explicit Mapped(const std::string& path) : path_(path) {
    write_text(path, std::string(kBytes, 'x'));
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    memory_ = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, descriptor_, 0);
  }
  ~Mapped() {
    ::munmap(memory_, kBytes);
    ::close(descriptor_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  std::unique_ptr<WatchedMapping> watch() const {
    return std::make_unique<WatchedMapping>(std::span(static_cast<const std::byte*>(memory_), kBytes), descriptor_,
                                            path_);
  }
  // Cuts the file and reads a page that it lost.
  void lose() const {
    std::filesystem::resize_file(path_, 1);
    read(0);  // the first page is still there
    read(kBytes - 1);
  }

 private:
  char read(std::size_t at) const { return static_cast<const volatile char*>(memory_)[at]; }

  const std::string path_;
  int descriptor_ = -1;
  void* memory_ = nullptr;
};

TEST(LostMappingWatch, EndsNothingWhereNothingIsLost) {
  for (int i = 0; i < 3; ++i) LostMappingWatch([] { std::abort(); });
}

class WatchedMappingDeathTest : public testing::Test {
 protected:
  ScratchFolder folder_;
};

TEST_F(WatchedMappingDeathTest, EndsWithCode3AndNamesTheFileThatWasCut) {
  const Mapped other(folder_ / "other"), file(folder_ / "shard");
  const auto watch = other.watch(), watched = file.watch();
  EXPECT_EXIT(
      file.lose(), testing::ExitedWithCode(3),
      "^error: cannot read .*/shard: the file became shorter while it was being read: .*store.read to \"copy\"\n$");
}

TEST_F(WatchedMappingDeathTest, KnowsManyMappings) {
  const Mapped file(folder_ / "shard");
  std::vector<std::unique_ptr<Mapped>> others;
  std::vector<std::unique_ptr<WatchedMapping>> watches;
  for (int i = 0; i < 300; ++i) {
    others.push_back(std::make_unique<Mapped>(folder_ / ("other" + std::to_string(i))));
    watches.push_back(others.back()->watch());
  }
  watches[7].reset();
  EXPECT_EXIT(others[299]->lose(), testing::ExitedWithCode(3), "/other299: ");
}

// A handler installed by a library still handles that library's own faults.
TEST_F(WatchedMappingDeathTest, LeavesOtherSignalsToTheHandlerBeforeIt) {
  const Mapped file(folder_ / "shard"), unwatched(folder_ / "unwatched");
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, [](int) { ::_exit(42); });
        const auto watched = file.watch();
        unwatched.lose();
      },
      testing::ExitedWithCode(42), "^$");
}

TEST_F(WatchedMappingDeathTest, CrashesWhereNobodyHandledTheSignal) {
  const Mapped file(folder_ / "shard"), unwatched(folder_ / "unwatched");
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, SIG_DFL);
        const auto watched = file.watch();
        unwatched.lose();
      },
      testing::KilledBySignal(SIGBUS), "^$");
}

TEST_F(WatchedMappingDeathTest, DiesOfTheSignalThatAnotherProcessSends) {
  const Mapped file(folder_ / "shard");
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, SIG_DFL);
        const auto watched = file.watch();
        ::kill(::getpid(), SIGBUS);
        ::_exit(0);
      },
      testing::KilledBySignal(SIGBUS), "^$");
}

TEST_F(WatchedMappingDeathTest, ShowsAPathWithoutEffectOnATerminal) {
  const Mapped file(folder_ / "sha\x1b[2Jrd");
  EXPECT_EXIT(
      {
        const auto watched = file.watch();
        file.lose();
      },
      testing::ExitedWithCode(3), R"(/sha\\x1b\[2Jrd: the file)");
}

// UCX installs its handler when MPI is initialized, which may be after a first file was mapped.
TEST_F(WatchedMappingDeathTest, StaysInChargeWhereALibraryTookTheSignalBetweenTwoMappings) {
  const Mapped file(folder_ / "shard"), later(folder_ / "later");
  EXPECT_EXIT(
      {
        const auto watched = file.watch();
        std::signal(SIGBUS, [](int) { ::_exit(42); });
        const auto also = later.watch();
        file.lose();
      },
      testing::ExitedWithCode(3), "/shard");
}

TEST_F(WatchedMappingDeathTest, LetsAThreadEndWhatElseMustEnd) {
  const Mapped file(folder_ / "shard");
  EXPECT_EXIT(
      {
        const LostMappingWatch watch([] { ::_exit(5); });
        const auto watched = file.watch();
        file.lose();
      },
      testing::ExitedWithCode(5), "/shard");
}

TEST_F(WatchedMappingDeathTest, ForgetsAMappingThatIsGone) {
  const Mapped file(folder_ / "shard");
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, [](int) { ::_exit(42); });
        file.watch().reset();
        file.lose();
      },
      testing::ExitedWithCode(42), "^$");
}

}  // namespace
}  // namespace chexbench
