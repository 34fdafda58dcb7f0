#include "core/output_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

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
  remove_abandoned_files(folder.path(), "all-");
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

TEST(OutputFile, ReportsAFileThatMayNotGrow) {
  const ScratchFolder folder;
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
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
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

}  // namespace
}  // namespace chexbench
