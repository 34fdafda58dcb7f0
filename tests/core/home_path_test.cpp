#include "core/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

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
    try {
      return with_home(path, "data.root");
    } catch (const SpecError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(complaint("~other/x"),
              testing::AllOf(testing::StartsWith("data.root: '~other/x'"), testing::HasSubstr("./~other")));
  ::unsetenv("HOME");
  EXPECT_THAT(complaint("~/x"), testing::HasSubstr("HOME is not set"));
}

}  // namespace
}  // namespace chexbench
