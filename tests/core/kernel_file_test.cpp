#include "core/kernel_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/scratch.hpp"

namespace chexbench {
namespace {

TEST(KernelFile, IsReadWhole) {
  const ScratchFolder folder;
  write_text(folder / "status", "one\ntwo\n");
  KernelPage page;
  EXPECT_EQ(read_kernel_file((folder / "status").c_str(), page), "one\ntwo\n");
}

TEST(KernelFile, IsCutWhereThePageEnds) {
  const ScratchFolder folder;
  KernelPage page;
  write_text(folder / "long", std::string(page.size(), 'a') + "b");
  EXPECT_EQ(read_kernel_file((folder / "long").c_str(), page), std::string(page.size(), 'a'));
}

TEST(KernelFile, IsEmptyWhereItCannotBeRead) {
  const ScratchFolder folder;
  KernelPage page;
  EXPECT_EQ(read_kernel_file((folder / "missing").c_str(), page), "");
  EXPECT_EQ(read_kernel_file(folder.path().c_str(), page), "") << "a folder";
}

}  // namespace
}  // namespace chexbench
