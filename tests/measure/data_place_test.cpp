#include "measure/data_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "fake_system.hpp"

namespace chexbench::measure {
namespace {

constexpr const char* kMounts =
    "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "30 21 0:40 / /data rw - nfs4 server:/export rw,vers=4.2\n"
    "31 30 0:41 / /data/fast rw shared:2 master:3 - fuse.sshfs me@host:/d rw\n"
    "32 21 0:42 / /merged rw - overlay overlay rw,lowerdir=/a:/b\n"
    "33 21 0:43 / /with\\040blank rw - tmpfs tmpfs rw\n"
    "34 21 0:44 / /covered rw - tmpfs tmpfs rw\n"
    "35 34 8:2 / /covered rw - xfs /dev/sdb1 rw\n"
    "damaged line\n";

class FileSystemTest : public testing::Test {
 protected:
  FileSystem find(const std::string& path) {
    system_.write("proc/self/mountinfo", kMounts);
    return find_file_system(path, system_.roots());
  }
  FakeSystem system_;
};

TEST_F(FileSystemTest, IsThatOfTheDeepestMount) {
  EXPECT_EQ(find("/nowhere/at/all").kind, FileSystemKind::local);
  EXPECT_EQ(find("/nowhere/at/all").type, "ext4");
  EXPECT_EQ(find("/data").kind, FileSystemKind::network);
  EXPECT_EQ(find("/data/set/").source, "server:/export");
  EXPECT_EQ(find("/data/fast/set").kind, FileSystemKind::fuse);
  EXPECT_EQ(find("/data/faster").type, "nfs4") << "a name that begins like a mount is not below it";
  EXPECT_EQ(find("/merged/x").kind, FileSystemKind::overlay);
}

TEST_F(FileSystemTest, KnowsEscapedNamesAndMountsThatCoverOthers) {
  EXPECT_EQ(find("/with blank/x").kind, FileSystemKind::memory);
  EXPECT_EQ(find("/with blank/x").mount_point, "/with blank");
  EXPECT_EQ(find("/covered").type, "xfs");
}

TEST_F(FileSystemTest, IsUnknownWhereTheKernelTellsNothing) {
  EXPECT_EQ(find_file_system("/nowhere/at/all", {.proc = "/nowhere", .sys = "/nowhere"}).kind, FileSystemKind::unknown);
}

// As in a chroot whose root is not a mount point: its mountinfo has no line that the path is under.
TEST_F(FileSystemTest, IsKnownByItsNumberWhereNoMountIsListed) {
  const FileSystem listed = find_file_system(testing::TempDir());
  const FileSystem found = find_file_system(testing::TempDir(), {.proc = "/nowhere", .sys = "/nowhere"});
  EXPECT_NE(found.kind, FileSystemKind::unknown);
  if (listed.kind != FileSystemKind::unknown) {
    EXPECT_EQ(found.kind, listed.kind);
  }
}

TEST_F(FileSystemTest, OfThisMachineIsKnown) {
  EXPECT_NE(find_file_system(testing::TempDir()).kind, FileSystemKind::unknown);
}

DataPlace place_with(std::uint64_t resident_bytes, std::uint64_t bytes) {
  DataPlace place;
  place.sample = {.files = 1, .bytes = bytes, .resident_bytes = resident_bytes};
  return place;
}

TEST(DataPlace, SaysInAWordHowMuchIsCached) {
  EXPECT_EQ(place_with(0, 0).cache_word(), "not known");
  EXPECT_EQ(place_with(4, 100).cache_word(), "cold");
  EXPECT_EQ(place_with(50, 100).cache_word(), "partly cached");
  EXPECT_EQ(place_with(96, 100).cache_word(), "warm");
}

TEST(DataPlace, LooksAtASampleOfTheFilesBelowTheRoot) {
  FakeSystem system;
  for (int i = 0; i < 100; ++i) system.write("data/images/" + std::to_string(i) + ".png", std::string(1000, 'x'));
  const DataPlace place = look_at_data((system.folder() / "data").string());
  EXPECT_EQ(place.sample.files, 64u);
  EXPECT_EQ(place.sample.bytes, 64'000u);
  EXPECT_EQ(place.cache_word(), "warm") << "just written";
}

TEST(DataPlace, OfAFolderWithoutFilesKnowsNothingOfTheCache) {
  const FakeSystem system;
  EXPECT_EQ(look_at_data(system.folder().string()).cache_word(), "not known");
}

TEST(DataPlace, NamesAFolderThatIsNotThere) { EXPECT_THROW(look_at_data("/nowhere/data"), DataError); }

namespace fs = std::filesystem;

// Scripts with the names of the file systems' tools, the only ones on PATH.
class StripingTest : public testing::Test {
 protected:
  StripingTest() : path_(std::getenv("PATH")) {
    setenv("PATH", (folder_.folder() / "bin").c_str(), 1);
    folder_.write("bin/.keep", "");
  }
  ~StripingTest() override { setenv("PATH", path_.c_str(), 1); }

  void tool(const std::string& name, const std::string& script) {
    folder_.write("bin/" + name, "#!/bin/sh\nPATH=/usr/bin:/bin\n" + script + "\n");
    fs::permissions(folder_.folder() / "bin" / name, fs::perms::owner_all);
  }
  void tool_says(const std::string& name, const std::string& output) {
    tool(name, "echo \"$0 $*\" >> \"${0%/bin/*}/asked\"\ncat <<'EOF'\n" + output + "\nEOF");
  }
  // Returns the command lines that tools were asked by, without their folder.
  std::string asked() {
    std::ifstream file(folder_.folder() / "asked");
    std::string text, line;
    while (std::getline(file, line)) text += line.substr((folder_.folder() / "bin/").string().size()) + "\n";
    return text;
  }
  static Striping on(const std::string& type, double patience_s = 20, const std::string& source = "/dev/fs1") {
    const FileSystem system{FileSystemKind::network, type, source, "/mnt"};
    return find_striping(system, "/mnt/data", patience_s).value();
  }

  FakeSystem folder_;
  const std::string path_;
};

TEST_F(StripingTest, OfLustreIsThatOfNewFilesOfTheFolder) {
  tool_says("lfs", "/mnt/data\nstripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1");
  const Striping striping = on("lustre");
  EXPECT_EQ(striping.system, "Lustre");
  EXPECT_EQ(striping.tool, "lfs getstripe");
  EXPECT_EQ(striping.problem, "");
  EXPECT_THAT(striping.stripes, testing::ElementsAre(Stripe{4, 1048576}));
  EXPECT_EQ(asked(), "lfs getstripe -d /mnt/data\n");
}

TEST_F(StripingTest, OfLustreMayChangeWithinAFile) {
  tool_says("lfs",
            "  lcm_entry_count:   2\n    lcme_extent.e_start: 0\n      stripe_count:  1       stripe_size:   1048576\n"
            "    lcme_extent.e_start: 268435456\n      lmm_stripe_count:  -1\n      lmm_stripe_size:   4194304");
  EXPECT_THAT(on("lustre").stripes, testing::ElementsAre(Stripe{1, 1048576}, Stripe{-1, 4194304}));
}

TEST_F(StripingTest, OfGpfsIsTheBlockSizeOfItsPools) {
  tool_says("mmlsfs",
            "flag                value                    description\n"
            "------------------- ------------------------ -----------------------------------\n"
            " -B                 262144                   Block size (system pool)\n"
            "                    8388608                  Block size (other pools)");
  EXPECT_THAT(on("gpfs").stripes, testing::ElementsAre(Stripe{{}, 262144}, Stripe{{}, 8388608}));
  EXPECT_EQ(asked(), "mmlsfs fs1 -B\n");
}

TEST_F(StripingTest, OfBeeGfsIsWhatEitherToolSays) {
  tool_says("beegfs",
            "Entry type: directory\nStripe pattern details:\n+ Type: RAID0\n+ Chunksize: 1M\n"
            "+ Number of storage targets: desired: 4\n+ Storage Pool: 1  (default)");
  EXPECT_THAT(on("beegfs").stripes, testing::ElementsAre(Stripe{4, 1048576}));
  EXPECT_EQ(asked(), "beegfs entry info --retro /mnt/data\n");
  tool_says("beegfs-ctl", "+ Chunksize: 512k\n+ Number of storage targets: desired: 2; actual: 2");
  EXPECT_THAT(on("beegfs").stripes, testing::ElementsAre(Stripe{2, 524288}));
  EXPECT_THAT(asked(), testing::HasSubstr("beegfs-ctl --getentryinfo /mnt/data\n"));
}

TEST_F(StripingTest, OfOtherFileSystemsIsNotAskedFor) {
  EXPECT_EQ(find_striping({FileSystemKind::local, "ext4", "/dev/sda1", "/"}, "/data"), std::nullopt);
  EXPECT_EQ(find_striping({FileSystemKind::network, "nfs4", "server:/d", "/mnt"}, "/mnt/data"), std::nullopt);
}

TEST_F(StripingTest, SaysWhichToolsAreMissing) {
  EXPECT_EQ(on("lustre").problem, "lfs is not on PATH");
  EXPECT_EQ(on("beegfs").problem, "beegfs-ctl is not on PATH, and beegfs is not on PATH");
  EXPECT_EQ(on("lustre").stripes.size(), 0u);
}

TEST_F(StripingTest, SaysWhyAToolFails) {
  tool("mmlsfs", "echo 'mmlsfs: only \033[31mroot may' >&2; exit 13");
  EXPECT_EQ(on("gpfs").problem, "mmlsfs ends with 13: mmlsfs: only \\x1b[31mroot may");
  tool("mmlsfs", "kill -9 $$");
  EXPECT_EQ(on("gpfs").problem, "mmlsfs dies of signal 9");
}

TEST_F(StripingTest, SaysThatAnAnswerWasNotUnderstood) {
  for (const char* nonsense : {"", "stripe", "stripe_size: 1048576", "stripe_count:", "\x01\xff"}) {
    tool_says("lfs", nonsense);
    EXPECT_EQ(on("lustre").problem, "lfs getstripe does not mention it") << nonsense;
  }
  tool_says("mmlsfs", " -B 99999999999999999999999 Block size\n -B 17179869184G Block size\n -B");
  EXPECT_EQ(on("gpfs").problem, "mmlsfs does not mention it");
}

// Then the system does not keep how a process ended, so that even a failed one would count as a success.
TEST_F(StripingTest, SaysThatItDoesNotKnowHowAToolEndedWhereSigchldIsIgnored) {
  tool("mmlsfs", "echo ' -B 262144 Block size'; exit 13");
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const Striping striping = on("gpfs");
  std::signal(SIGCHLD, before);
  EXPECT_EQ(striping.problem, "how mmlsfs ended is not known: No child processes");
  EXPECT_TRUE(striping.stripes.empty());
}

// Neither a silent tool, nor a chatty one, nor one whose child keeps its output open delays doctor.
TEST_F(StripingTest, EndsAToolThatHangs) {
  for (const char* script :
       {"sleep 100", "exec 1>&- 2>&-; sleep 100", "while :; do echo stripe_count: 1; done", "sleep 100 & exit 0"}) {
    tool("lfs", script);
    const double begin_s = now_s();
    EXPECT_EQ(on("lustre", 0.2).problem, "lfs does not answer within 0.2 s") << script;
    EXPECT_LT(now_s() - begin_s, 50) << script;
  }
}

}  // namespace
}  // namespace chexbench::measure
