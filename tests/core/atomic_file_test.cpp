#include "core/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AtomicFile : public testing::Test {
 protected:
  AtomicFile() : folder_(testing::TempDir() + "atomic_file_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~AtomicFile() override { std::filesystem::remove_all(folder_); }

  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }
  static std::string message_of(const std::string& path, const std::string& text) {
    try {
      write_file_atomically(path, text);
    } catch (const OutputError& error) {
      EXPECT_EQ(error.code(), ExitCode::output);
      return error.what();
    }
    return "nothing thrown";
  }

  const std::string folder_;
  const std::string path_ = folder_ + "/report.json";
};

TEST_F(AtomicFile, WritesEveryByteAndLeavesNothingElse) {
  const std::string text("a\0b\nc", 5);
  write_file_atomically(path_, text);
  EXPECT_EQ(content(path_), text);
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFile, ReplacesALinkAndLeavesAloneWhatItLeadsTo) {
  const std::string target = folder_ + "/target", link = folder_ + "/link", nowhere = folder_ + "/nowhere";
  std::ofstream(target) << "what was there";
  std::filesystem::create_symlink("target", link);
  std::filesystem::create_symlink(folder_ + "/not yet there", nowhere);
  for (const std::string& name : {link, nowhere}) {
    write_file_atomically(name, "new");
    EXPECT_EQ(content(name), "new");
    EXPECT_FALSE(std::filesystem::is_symlink(name));
  }
  EXPECT_EQ(content(target), "what was there");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/not yet there"));
}

TEST_F(AtomicFile, NeverWritesToWhatHasItsTemporaryName) {
  const std::string target = folder_ + "/target", path = folder_ + "/report.json";
  std::ofstream(target) << "what was there";
  std::filesystem::create_symlink("target", folder_ + "/.report.json.tmp-" + std::to_string(getpid()));
  write_file_atomically(path, "new");
  EXPECT_EQ(content(target), "what was there");
  EXPECT_EQ(content(path), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
}

TEST_F(AtomicFile, WritesIntoADescriptorThatALinkLeadsTo) {
  const std::string target = folder_ + "/target", link = folder_ + "/stdout";
  const int descriptor = open(target.c_str(), O_WRONLY | O_CREAT, 0600);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(descriptor), link);
  write_file_atomically(link, "new");
  close(descriptor);
  EXPECT_EQ(content(target), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(AtomicFile, WritesIntoAPipeWhichStaysWhatItIs) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file_atomically(pipe, "piped");
  char text[100];
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(read(reader, text, sizeof text))), "piped");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(AtomicFile, OfAKilledProcessIsRemovedAndNothingElse) {
  const std::string gone = std::to_string(ended_process());
  const std::string abandoned = folder_ + "/.report.json.tmp-" + gone;
  const std::vector<std::string> others{path_, path_ + ".tmp", path_ + ".tmp-old", path_ + ".tmp-" + gone};
  for (const std::string& path : others) std::ofstream(path) << "x";
  std::ofstream(abandoned) << "{";
  remove_abandoned_files(folder_);
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_EQ(files(), std::ssize(others));
  remove_abandoned_files(folder_ + "/missing");
}

TEST_F(AtomicFile, ReplacesALongerFileAsAWhole) {
  write_file_atomically(path_, std::string(100000, 'x'));
  write_file_atomically(path_, "short");
  EXPECT_EQ(content(path_), "short");
}

TEST_F(AtomicFile, WritesThePiecesOfATextInTheirOrder) {
  write_file_atomically(path_, [](const WritePiece& write) {
    for (const char* piece : {"one ", "", "two ", "three"}) write(piece);
  });
  EXPECT_EQ(content(path_), "one two three");
}

TEST_F(AtomicFile, KeepsTheFileThatWasThereWhereItsTextCannotBeMade) {
  write_file_atomically(path_, "before");
  EXPECT_THROW(write_file_atomically(path_,
                                     [](const WritePiece& write) {
                                       write("half");
                                       throw DataError("no more");
                                     }),
               DataError);
  EXPECT_EQ(content(path_), "before");
  EXPECT_EQ(files(), 1) << "the temporary file has to go";
}

TEST_F(AtomicFile, NamesTheFileAndTheReasonWhereTheFolderIsMissing) {
  EXPECT_THAT(message_of(folder_ + "/missing/report.json", "x"),
              AllOf(HasSubstr("missing/report.json"), HasSubstr("No such file or directory")));
}

TEST_F(AtomicFile, NamesTheReasonWhereAFolderStandsInTheWay) {
  std::filesystem::create_directories(path_ + "/inside");
  EXPECT_THAT(message_of(path_, "x"), AllOf(HasSubstr("report.json"), HasSubstr("Is a directory")));
  EXPECT_EQ(files(), 1) << "the temporary file has to go";
}

// A file size limit simulates a full disk: write() accepts a part of the text and then fails.
class FullDisk : public AtomicFile {
 protected:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = 4096, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() override {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

  rlimit before_{};
};

TEST_F(FullDisk, KeepsTheFileThatWasThere) {
  write_file_atomically(path_, "what was measured before");
  EXPECT_THAT(message_of(path_, std::string(10000, 'x')), AllOf(HasSubstr("report.json"), HasSubstr("File too large")));
  EXPECT_EQ(content(path_), "what was measured before");
  EXPECT_EQ(files(), 1) << "the temporary file has to go";
}

}  // namespace
}  // namespace chexbench
