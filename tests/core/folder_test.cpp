#include "core/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

TEST(NearestPath, IsTheEntryBesideItWithTheNearestName) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "x-rays");
  write_text(folder / "other.txt", "");
  const std::string expected = " (did you mean '" + (folder / "x-rays") + "'?)";
  EXPECT_EQ(nearest_path_suggestion(folder / "x-ray"), expected);
  EXPECT_EQ(nearest_path_suggestion(folder / "x_rays/"), expected) << "a slash at the end says that it is a folder";
  EXPECT_EQ(nearest_path_suggestion(folder / "quite different"), "");
  EXPECT_EQ(nearest_path_suggestion(folder / "no/such/folder"), "");
  EXPECT_EQ(nearest_path_suggestion(""), "");
}

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

// Keeps HOME and the working directory as they were.
class HomePath : public testing::Test {
 protected:
  HomePath() {
    ::setenv("HOME", "/home/somebody", 1);
    std::filesystem::current_path(scratch_ / ".");
  }
  ~HomePath() override {
    std::filesystem::current_path(before_);
    had_home_ ? ::setenv("HOME", home_.c_str(), 1) : ::unsetenv("HOME");
  }

 private:
  const bool had_home_ = std::getenv("HOME") != nullptr;
  const std::string home_ = had_home_ ? std::getenv("HOME") : "";
  const std::filesystem::path before_ = std::filesystem::current_path();
  const ScratchFolder scratch_;
};

TEST_F(HomePath, StandsForATildeAtTheBeginning) {
  EXPECT_EQ(with_home("~/x/y z", "--output"), "/home/somebody/x/y z");
  EXPECT_EQ(with_home("~", "--output"), "/home/somebody");
  EXPECT_EQ(with_home("~/", "--output"), "/home/somebody/");
  for (const char* const path : {"", "x~", "./~/x", "/~/x", "x/~/y", "s3://bucket/~x"})
    EXPECT_EQ(with_home(path, "--output"), path);
}

TEST_F(HomePath, LeavesAnEntryOfThatName) {
  std::filesystem::create_directory("~somebody");
  EXPECT_EQ(with_home("~somebody/x", "data.root"), "~somebody/x");
  std::filesystem::create_directory("~");
  EXPECT_EQ(with_home("~/x", "data.root"), "~/x");
}

TEST_F(HomePath, OfSomebodyElseOrOfNobodyIsAnError) {
  const auto complaint = [](const std::string& path) {
    return message_of<SpecError>([&] { with_home(path, "data.root"); });
  };
  EXPECT_THAT(complaint("~other/x"),
              testing::AllOf(testing::StartsWith("data.root: '~other/x'"), testing::HasSubstr("./~other")));
  ::unsetenv("HOME");
  EXPECT_THAT(complaint("~/x"), testing::HasSubstr("HOME is not set"));
}

}  // namespace
}  // namespace chexbench
