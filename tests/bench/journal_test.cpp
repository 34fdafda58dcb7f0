#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "bench/journal.hpp"
#include "core/errors.hpp"

namespace chexbench::bench {
namespace {

// During this object's lifetime, files of this process cannot grow beyond `bytes`: a write ends early, as on a full
// disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uintmax_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{static_cast<rlim_t>(bytes), before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

class JournalTest : public testing::Test {
 protected:
  JournalTest()
      : folder_(testing::TempDir() + "journal-" + std::to_string(getpid())), path_(folder_ + "/journal.jsonl") {
    std::filesystem::create_directories(folder_);
  }
  ~JournalTest() override { std::filesystem::remove_all(folder_); }

  static results::RepeatResult repeat(int number, double images_per_s) {
    results::RepeatResult result;
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
  } catch (const OutputError& error) {
    EXPECT_NE(std::string(error.what()).find(path_ + ", line 1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("delete that line"), std::string::npos) << error.what();
  }
}

TEST_F(JournalTest, IsWrittenByOneProcessAtATime) {
  const Journal journal(path_);
  try {
    const Journal second(path_);
    FAIL() << "two writers";
  } catch (const OutputError& error) {
    EXPECT_NE(std::string(error.what()).find("another chexbench writes to " + path_), std::string::npos)
        << error.what();
  }
}

TEST_F(JournalTest, OfANewRunIsCreatedOnce) {
  EXPECT_TRUE(create_journal(path_));
  EXPECT_FALSE(create_journal(path_));
  EXPECT_THROW(create_journal(folder_ + "/missing/journal.jsonl"), OutputError);
}

TEST_F(JournalTest, IsTakenBackOnlyWhereNothingWasWritten) {
  create_journal(path_);
  remove_empty_journal(path_);
  EXPECT_TRUE(create_journal(path_));
  Journal(path_).append("a", repeat(0, 1));
  remove_empty_journal(path_);
  EXPECT_FALSE(create_journal(path_));
}

TEST_F(JournalTest, TellsWhichRepeatsItHolds) {
  Journal(path_).append("a", repeat(2, 1));
  EXPECT_EQ(read_repeat_keys(path_), (RepeatKeys{{"a", 2}}));
}

TEST_F(JournalTest, CanBeResumedByItsOwnTrialsOnly) {
  results::Report planned{.experiment = "mine"};
  planned.trials = {{.key = "a"}, {.key = "b"}};
  EXPECT_NO_THROW(check_resumable(planned, folder_, {}));
  EXPECT_NO_THROW(check_resumable(planned, folder_, {{"b", 0}, {"c", 0}}));
  EXPECT_THROW(check_resumable(planned, folder_, {{"c", 0}}), SpecError);
  std::ofstream(folder_ + "/report.json") << R"({"experiment": "other"})";
  EXPECT_THROW(check_resumable(planned, folder_, {{"b", 0}}), SpecError);
}

TEST_F(JournalTest, WritesToNoFileThatALinkLeadsTo) {
  const std::string target = folder_ + "/target";
  std::ofstream(target) << "half a line";
  std::filesystem::create_symlink(target, path_);
  try {
    Journal journal(path_);
    FAIL() << "it wrote to what a link leads to";
  } catch (const OutputError& error) {
    EXPECT_NE(std::string(error.what()).find(path_ + " is a symbolic link"), std::string::npos) << error.what();
  }
  EXPECT_EQ(std::filesystem::file_size(target), std::string("half a line").size());
}

TEST_F(JournalTest, SaysWhichFileCannotBeOpened) {
  EXPECT_THROW(Journal(folder_ + "/missing/journal.jsonl"), OutputError);
}

TEST_F(JournalTest, SaysThatTheDiskIsFullAndKeepsWhatWasWhole) {
  {
    Journal journal(path_);
    journal.append("a", repeat(0, 1));
    const FileSizeLimit limit(std::filesystem::file_size(path_) + 10);
    EXPECT_THROW(journal.append("a", repeat(1, 2)), OutputError);
  }
  const Journal again(path_);
  EXPECT_NE(again.find("a", 0), nullptr);
  EXPECT_EQ(again.find("a", 1), nullptr);
}

}  // namespace
}  // namespace chexbench::bench
