#include "measure/data_place.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace chexbench::measure
