#include "spec/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

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

TEST(TextFile, ReadsAPipeWhoseTextComesLate) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::jthread writer([end = ends[1]] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(::write(end, "{}", 2), 2);
    ::close(end);
  });
  EXPECT_EQ(read_text_file("/dev/fd/" + std::to_string(ends[0]), "experiment"), "{}");
  ::close(ends[0]);
}

TEST(TextFile, DoesNotWaitForAFifosWriter) {
  const std::string path = testing::TempDir() + "text_file_test_fifo." + std::to_string(getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_text_file(path, "experiment"), "");
  std::filesystem::remove(path);
}

TEST(TextFile, RefusesWhatHasNoEndOrCannotBeRead) {
  EXPECT_THAT(error_of([] { read_text_file("/dev/zero", "experiment"); }), HasSubstr("larger than 16 MB"));
  EXPECT_THAT(error_of([] { read_text_file("/proc/self/mem", "experiment"); }), HasSubstr("Input/output error"));
}

}  // namespace
}  // namespace chexbench::spec
