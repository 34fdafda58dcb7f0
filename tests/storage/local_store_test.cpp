#include "storage/store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "core/scratch.hpp"

namespace chexbench::storage {
namespace {

namespace fs = std::filesystem;

// The standard library's answer for each entry, one by one: the plain twin of list().
std::map<std::string, StoreEntry> entries_of(const std::string& folder) {
  std::map<std::string, StoreEntry> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code error;
    const fs::file_status status = entry.status(error);
    StoreEntry& one = entries[entry.path().filename()];
    one.name = entry.path().filename();
    one.kind = fs::is_regular_file(status) ? StoreEntry::Kind::file
               : fs::is_directory(status)  ? StoreEntry::Kind::folder
               : !fs::exists(status)       ? StoreEntry::Kind::broken
                                           : StoreEntry::Kind::other;
    if (one.kind == StoreEntry::Kind::file) one.bytes = entry.file_size();
  }
  return entries;
}

void expect_listed(const std::string& folder) {
  const std::vector<StoreEntry> listed = local_store()->list(folder);
  const std::map<std::string, StoreEntry> expected = entries_of(folder);
  ASSERT_EQ(listed.size(), expected.size());
  for (const StoreEntry& entry : listed) {
    const StoreEntry& known = expected.at(entry.name);
    ASSERT_EQ(entry.kind, known.kind) << entry.name;
    ASSERT_EQ(entry.bytes, known.bytes) << entry.name;
  }
}

// Writes entries of every kind.
void fill(const ScratchFolder& folder) {
  write_text(folder / "file.png", "12345");
  fs::create_directory(folder / "inner");
  fs::create_symlink("file.png", folder / "link.png");
  fs::create_directory_symlink("inner", folder / "link");
  fs::create_symlink("nowhere", folder / "dangling.png");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
}

TEST(LocalStore, ListsFilesFoldersAndWhatIsNeither) {
  const ScratchFolder folder;
  fill(folder);
  expect_listed(folder.path());
}

// This many entries are looked up in parts, by several threads if there are several cores.
TEST(LocalStore, ListsALargeFolderAsASmallOne) {
  const ScratchFolder folder;
  write_text(folder / "0.png", "0");
  for (int i = 1; i < 10'000; ++i) {
    const std::string path = folder / fmt::format("{}.png", i);
    i % 100 == 0 ? write_text(path, std::string(static_cast<std::size_t>(i), 'x'))
                 : fs::create_hard_link(folder / "0.png", path);
  }
  fill(folder);
  expect_listed(folder.path());
}

TEST(LocalStore, ListsNothingWhereThereIsNoFolder) {
  const ScratchFolder folder;
  write_text(folder / "file", "");
  EXPECT_TRUE(local_store()->list(folder / "absent").empty());
  EXPECT_TRUE(local_store()->list(folder / "file").empty());
}

}  // namespace
}  // namespace chexbench::storage
