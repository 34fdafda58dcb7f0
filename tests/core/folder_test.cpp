#include "core/folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

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

}  // namespace
}  // namespace chexbench
