#include "core/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(OutputFile, TakesItsNameOnlyWhenCommitted) {
  const ScratchFolder folder;
  OutputFile file(folder / "shard");
  file.write(as_bytes("abc"));
  file.write(as_bytes("def"));
  EXPECT_FALSE(std::filesystem::exists(folder / "shard"));
  file.commit(OutputFile::Durability::synced);
  EXPECT_EQ(read_text(folder / "shard"), "abcdef");
  EXPECT_EQ(file.bytes_written(), 6u);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("shard"));
}

TEST(OutputFile, LeavesNothingBehindWhenDropped) {
  const ScratchFolder folder;
  { OutputFile(folder / "shard").write(as_bytes("abc")); }
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(RemoveAbandonedFiles, TakesThoseOfItsPrefixWhoseProcessIsGone) {
  const ScratchFolder folder;
  const std::string gone = std::to_string(ended_process()), here = std::to_string(::getpid());
  const std::string kept[] = {".all-1.tmp-",    ".all-1.tmp-" + gone + "x", ".all-1.tmp-" + here, ".all-1.tmp--" + gone,
                              ".all-1." + gone, ".train-1.tmp-" + gone,     "all-1.tmp-" + gone};
  for (const std::string& name : kept) write_text(folder / name, "x");
  write_text(folder / (".all-1.tmp-" + gone), "x");
  write_text(folder / (".all-2.tmp-1.tmp-" + gone), "x");
  remove_abandoned_files(folder.path(), "all-");
  EXPECT_THAT(names_in(folder.path()), testing::UnorderedElementsAreArray(kept));
}

TEST(RemoveAbandonedFiles, LeavesAFolderAloneThatIsNotThere) {
  const ScratchFolder folder;
  EXPECT_NO_THROW(remove_abandoned_files(folder / "none", "all-"));
}

TEST(RemoveAbandonedFiles, KnowsTheNameOfAnOutputFile) {
  const ScratchFolder folder;
  const pid_t killed = ::fork();
  if (killed == 0) {
    const OutputFile file(folder / "all-1");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(killed, nullptr, 0);
  ASSERT_EQ(names_in(folder.path()).size(), 1u);
  remove_abandoned_files(folder.path(), "all-");
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(RemoveAbandonedFiles, TakesThoseOfAProcessThatNobodyHasWaitedFor) {
  const ScratchFolder folder;
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  siginfo_t state{};
  ::waitid(P_PID, static_cast<id_t>(ended), &state, WEXITED | WNOWAIT);  // it has ended, and stays a zombie
  write_text(folder / (".all-manifest.json.tmp-" + std::to_string(ended)), "x");
  remove_abandoned_files(folder.path());
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
  ::waitpid(ended, nullptr, 0);
}

TEST(MakeNewFolder, GivesEachOfManyAtOnceAFolderOfItsOwn) {
  const ScratchFolder scratch;
  std::vector<std::string> made(8);
  {
    std::vector<std::jthread> threads;
    for (std::string& folder : made)
      threads.emplace_back([&folder, &scratch] { folder = make_new_folder(scratch / "results/x/now"); });
  }
  EXPECT_THAT(made, testing::UnorderedElementsAre(scratch / "results/x/now", scratch / "results/x/now-2",
                                                  scratch / "results/x/now-3", scratch / "results/x/now-4",
                                                  scratch / "results/x/now-5", scratch / "results/x/now-6",
                                                  scratch / "results/x/now-7", scratch / "results/x/now-8"));
}

TEST(MakeNewFolder, NamesWhatStandsInTheWay) {
  const ScratchFolder scratch;
  write_text(scratch / "file", "");
  EXPECT_THROW(make_new_folder(scratch / "file/now"), OutputError);
}

TEST(SyncFolderOf, SaysThatAFolderIsNotThere) {
  const ScratchFolder folder;
  EXPECT_NO_THROW(sync_folder_of(folder / "shard"));
  EXPECT_THAT(message_of<OutputError>([&] { sync_folder_of(folder / "none/shard"); }),
              AllOf(HasSubstr(folder / "none"), HasSubstr("No such file")));
}

TEST(OutputFile, ReplacesAFileAsAWhole) {
  const ScratchFolder folder;
  write_text(folder / "a", "old contents");
  OutputFile file(folder / "a");
  file.write(as_bytes("new"));
  EXPECT_EQ(read_text(folder / "a"), "old contents");
  file.commit(OutputFile::Durability::renamed);
  EXPECT_EQ(read_text(folder / "a"), "new");
}

TEST(OutputFile, NamesAPlaceThatCannotBeWritten) {
  EXPECT_THAT(message_of<OutputError>([] { OutputFile("/proc/chexbench/shard"); }), HasSubstr("/proc/chexbench/shard"));
  EXPECT_THAT(message_of<OutputError>([] { make_folder("/proc/chexbench"); }), HasSubstr("/proc/chexbench"));
}

TEST(OutputFile, ReportsAFileThatMayNotGrowAndKeepsTheOneBefore) {
  const ScratchFolder folder;
  write_text(folder / "a", "before");
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit low{1000, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const std::string message =
      message_of<OutputError>([&] { OutputFile(folder / "a").write(as_bytes(std::string(5000, 'x'))); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, AllOf(HasSubstr(folder / "a"), HasSubstr("File too large")));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
  EXPECT_EQ(read_text(folder / "a"), "before");
}

TEST(OutputFile, ReportsAFullDisk) {
  const ScratchFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "needs the right to mount a small file system: " << std::strerror(errno);
  }
  const std::string message =
      message_of<OutputError>([&] { OutputFile(folder / "a").write(as_bytes(std::string(1000000, 'x'))); });
  EXPECT_THAT(message, AllOf(HasSubstr(folder / "a"), HasSubstr("No space left on device: free room there")));
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
  ::umount(folder.path().c_str());
}

class AtomicFile : public testing::Test {
 protected:
  const ScratchFolder folder_;
  const std::string path_ = folder_ / "report.json";
};

TEST_F(AtomicFile, ReplacesALinkAndLeavesAloneWhatItLeadsTo) {
  const std::string target = folder_ / "target", link = folder_ / "link", nowhere = folder_ / "nowhere";
  write_text(target, "what was there");
  std::filesystem::create_symlink("target", link);
  std::filesystem::create_symlink(folder_ / "not yet there", nowhere);
  for (const std::string& name : {link, nowhere}) {
    write_file_atomically(name, "new");
    EXPECT_EQ(read_text(name), "new");
    EXPECT_FALSE(std::filesystem::is_symlink(name));
  }
  EXPECT_EQ(read_text(target), "what was there");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "not yet there"));
}

TEST_F(AtomicFile, NeverWritesToWhatHasItsTemporaryName) {
  const std::string target = folder_ / "target", path = folder_ / "report.json";
  write_text(target, "what was there");
  std::filesystem::create_symlink("target", folder_ / ".report.json.tmp-" + std::to_string(::getpid()));
  write_file_atomically(path, "new");
  EXPECT_EQ(read_text(target), "what was there");
  EXPECT_EQ(read_text(path), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
}

TEST_F(AtomicFile, WritesIntoADescriptorThatALinkLeadsTo) {
  const std::string target = folder_ / "target", link = folder_ / "stdout";
  const int descriptor = open(target.c_str(), O_WRONLY | O_CREAT, 0600);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(descriptor), link);
  write_file_atomically(link, "new");
  close(descriptor);
  EXPECT_EQ(read_text(target), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(AtomicFile, WritesIntoAPipeWhichStaysWhatItIs) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file_atomically(pipe, "piped");
  char text[100];
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(read(reader, text, sizeof text))), "piped");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(AtomicFile, WritesThePiecesOfATextInTheirOrder) {
  write_file_atomically(path_, [](const WritePiece& write) {
    for (const char* piece : {"one ", "", "two ", "three"}) write(piece);
  });
  EXPECT_EQ(read_text(path_), "one two three");
}

TEST_F(AtomicFile, KeepsTheFileThatWasThereWhereItsTextCannotBeMade) {
  write_file_atomically(path_, "before");
  EXPECT_THROW(write_file_atomically(path_,
                                     [](const WritePiece& write) {
                                       write("half");
                                       throw DataError("no more");
                                     }),
               DataError);
  EXPECT_EQ(read_text(path_), "before");
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("report.json")) << "the temporary file has to go";
}

TEST_F(AtomicFile, NamesTheFileAndTheReasonWhereTheFolderIsMissing) {
  EXPECT_THAT(message_of<OutputError>([&] { write_file_atomically(folder_ / "missing/report.json", "x"); }),
              AllOf(HasSubstr("missing/report.json"), HasSubstr("No such file or directory")));
}

TEST_F(AtomicFile, NamesTheReasonWhereAFolderStandsInTheWay) {
  std::filesystem::create_directories(path_ + "/inside");
  EXPECT_THAT(message_of<OutputError>([&] { write_file_atomically(path_, "x"); }),
              AllOf(HasSubstr("report.json"), HasSubstr("Is a directory")));
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("report.json")) << "the temporary file has to go";
}

}  // namespace
}  // namespace chexbench
