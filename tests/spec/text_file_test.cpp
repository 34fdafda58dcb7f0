#include "spec/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;

TEST(TextFile, ReadsAFileWhole) {
  const std::string path = testing::TempDir() + "text_file_test." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << std::string("a\r\nb\0c", 6);
  EXPECT_EQ(read_text_file(path, "experiment"), std::string("a\r\nb\0c", 6));
  std::filesystem::remove(path);
}

TEST(TextFile, NamesTheFileAndTheReason) {
  EXPECT_EQ(error_of([] { read_text_file("/no/such.json", "experiment"); }),
            "cannot read the experiment '/no/such.json': No such file or directory");
  EXPECT_THAT(error_of([] { read_text_file(testing::TempDir(), "pipeline"); }), HasSubstr("it is a folder"));
}

TEST(TextFile, RefusesAFileThatCannotBeASpec) {
  const std::string path = testing::TempDir() + "text_file_test_large." + std::to_string(getpid());
  std::ofstream(path).close();
  std::filesystem::resize_file(path, (16u << 20) + 1);
  EXPECT_THAT(error_of([&] { read_text_file(path, "experiment"); }), HasSubstr("larger than 16 MB"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace chexbench::spec
