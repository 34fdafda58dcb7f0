#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/journal.hpp"
#include "core/errors.hpp"

namespace chexbench::bench {
namespace {

class JournalTest : public testing::Test {
 protected:
  JournalTest()
      : folder_(testing::TempDir() + "journal-" + std::to_string(getpid())), path_(folder_ + "/journal.jsonl") {
    std::filesystem::create_directories(folder_);
  }
  ~JournalTest() override { std::filesystem::remove_all(folder_); }

  static report::RepeatResult repeat(int number, double images_per_s) {
    report::RepeatResult result;
    result.repeat = number;
    result.images_per_s = images_per_s;
    return result;
  }

  const std::string folder_;
  const std::string path_;
};

TEST_F(JournalTest, FindsWhatAnEarlierRunAppended) {
  {
    Journal journal(path_);
    EXPECT_EQ(journal.find("a", 0), nullptr);
    journal.append("a", repeat(0, 12.5));
    journal.append("b", repeat(1, 3.25));
  }
  const Journal journal(path_);
  ASSERT_NE(journal.find("a", 0), nullptr);
  EXPECT_DOUBLE_EQ(journal.find("a", 0)->images_per_s, 12.5);
  ASSERT_NE(journal.find("b", 1), nullptr);
  EXPECT_EQ(journal.find("a", 1), nullptr);
}

TEST_F(JournalTest, GoesOnBehindATornLastLine) {
  Journal(path_).append("a", repeat(0, 1));
  std::ofstream(path_, std::ios::app) << R"({"key": "a", "repe)";
  Journal(path_).append("a", repeat(1, 2));
  const Journal journal(path_);
  EXPECT_NE(journal.find("a", 0), nullptr);
  EXPECT_NE(journal.find("a", 1), nullptr);
}

TEST_F(JournalTest, NamesALineThatIsDamaged) {
  std::ofstream(path_) << "no json\n";
  try {
    const Journal journal(path_);
    FAIL() << "a damaged journal was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
  }
}

TEST_F(JournalTest, SaysWhichFileCannotBeOpened) {
  EXPECT_THROW(Journal(folder_ + "/missing/journal.jsonl"), OutputError);
}

TEST_F(JournalTest, SaysThatTheDiskIsFull) {
  std::filesystem::create_symlink("/dev/full", path_);
  // /dev/full cannot be truncated, which is as good a refusal as the write's.
  EXPECT_THROW(
      {
        Journal journal(path_);
        journal.append("a", repeat(0, 1));
      },
      OutputError);
}

}  // namespace
}  // namespace chexbench::bench
