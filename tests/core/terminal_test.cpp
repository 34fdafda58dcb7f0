#include "core/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/log.hpp"
#include "core/scratch.hpp"

namespace chexbench {
namespace {

std::string shown(bool is_shown, int times, const char* text = "at work") {
  testing::internal::CaptureStderr();
  {
    StatusLine line(is_shown);
    for (int i = 0; i < times; ++i) line.show(text);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(StatusLine, ShowsItsTextAndRemovesItAtTheEnd) { EXPECT_EQ(shown(true, 1), "\r\033[Kat work\r\033[K"); }

TEST(StatusLine, StaysSilentWhereItIsNotShown) { EXPECT_EQ(shown(false, 3), ""); }

TEST(StatusLine, LeavesNothingToRemoveWhereNothingWasShown) { EXPECT_EQ(shown(true, 0), ""); }

TEST(StatusLine, ObeysNothingInItsText) { EXPECT_EQ(shown(true, 1, "a\x1b[2J\nb"), "\r\033[Ka\\x1b[2J\\x0ab\r\033[K"); }

TEST(StatusLine, DoesNotFlicker) { EXPECT_EQ(shown(true, 2), shown(true, 1)); }

TEST(StatusLine, MakesRoomForTheLog) {
  testing::internal::CaptureStderr();
  {
    StatusLine line(true);
    line.show("at work");
    log::info("told");
    write_own_line("and told");
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(written.find("\r\033[Kat work\r\033[K["), 0u) << written;
  EXPECT_NE(written.find("told\nand told\n"), std::string::npos) << written;
}

TEST(StatusLine, IsNoReasonToEndARunWhereStderrTakesNothing) {
  const int kept = dup(STDERR_FILENO);
  const int full = open("/dev/full", O_WRONLY);
  dup2(full, STDERR_FILENO);
  EXPECT_NO_THROW(StatusLine(true).show("at work"));
  dup2(kept, STDERR_FILENO);
  close(full);
  close(kept);
}

// Tests which processes count as an mpirun that forwards a standard stream, over simulated /proc folders.

class LaunchersStream : public testing::Test {
 protected:
  struct Process {
    std::string program;
    std::string parent;
    std::string command_line = "";
  };
  void add(const std::string& id, const Process& process) {
    write_text(proc_ / (id + "/stat"), id + " (a (b) c) S " + process.parent + " 1 1 0");
    write_text(proc_ / (id + "/cmdline"), process.command_line);
    std::filesystem::create_directory(proc_ / (id + "/fd"));
    link(id + "/exe", "/usr/bin/" + process.program);
  }
  void link(const std::string& name, const std::string& target) {
    std::filesystem::remove(proc_ / name);
    std::filesystem::create_symlink(target, proc_ / name);
  }
  std::optional<std::string> found(int stream = STDERR_FILENO) const {
    return launchers_stream(stream, proc_.path(), "12");
  }

  // `mpirun -np 2 chexbench` of MPICH, in a shell on a terminal.
  void SetUp() override {
    add("9", {"bash", "1"});
    add("10", {"mpiexec.hydra", "9", std::string("mpirun\0-np\0002\0chexbench\0", 23)});
    add("11", {"hydra_pmi_proxy", "10"});
    add("12", {"chexbench", "11"});
    link("9/fd/2", "/dev/pts/0");
    link("10/fd/2", "/dev/pts/0");
    link("11/fd/19", "pipe:[77]");
    link("11/fd/17", "pipe:[76]");
    link("12/fd/1", "pipe:[76]");
    link("12/fd/2", "pipe:[77]");
  }

  ScratchFolder proc_;
};

TEST_F(LaunchersStream, IsThatOfMpirunAboveTheProxy) {
  EXPECT_EQ(found(), proc_ / "10/fd/2");
  EXPECT_EQ(found(STDOUT_FILENO), proc_ / "10/fd/1");
}

TEST_F(LaunchersStream, IsFoundBehindAShellAndAnotherProxy) {
  add("13", {"hydra_bstrap_proxy", "10"});
  add("11", {"hydra_pmi_proxy", "13"});
  link("11/fd/19", "pipe:[77]");
  add("14", {"bash", "11"});
  add("12", {"chexbench", "14"});
  link("12/fd/2", "pipe:[77]");
  EXPECT_EQ(found(), proc_ / "10/fd/2");
}

TEST_F(LaunchersStream, IsNotThatOfAPipeWithinTheJob) {
  link("12/fd/2", "pipe:[78]");  // mpirun ... bash -c "chexbench 2>&1 | tee log"
  EXPECT_FALSE(found());
}

TEST_F(LaunchersStream, IsNoneForFilesAndTerminals) {
  for (const char* target : {"/tmp/log", "/dev/pts/0"}) {
    link("12/fd/2", target);
    EXPECT_FALSE(found()) << target;
  }
}

TEST_F(LaunchersStream, IsNoneOnOtherHostsAndWithOtherLaunchers) {
  add("10", {"sshd", "9"});
  EXPECT_FALSE(found());
  add("10", {"orterun", "9"});
  add("12", {"chexbench", "10"});
  link("12/fd/2", "pipe:[77]");
  link("10/fd/19", "pipe:[77]");
  EXPECT_FALSE(found());
}

TEST_F(LaunchersStream, IsNoneOfWhoeverCapturesAPipe) {
  add("12", {"chexbench", "9"});
  link("12/fd/2", "pipe:[77]");
  link("9/fd/5", "pipe:[77]");
  EXPECT_FALSE(found());
}

TEST_F(LaunchersStream, IsNoneIfMpirunChangesWhatItForwards) {
  for (const std::string option :
       {"-l", "-prepend-rank", "--prepend-pattern", "-errfile-pattern=x", "-outfile-pattern", "-configfile"}) {
    add("10", {"mpiexec.hydra", "9", "mpirun" + std::string(1, '\0') + option + std::string(1, '\0') + "chexbench"});
    EXPECT_EQ(found(STDERR_FILENO).has_value(), option.starts_with("-outfile")) << option;
    EXPECT_EQ(found(STDOUT_FILENO).has_value(), option.starts_with("-errfile")) << option;
  }
}

TEST(TerminalWidth, IsNoneOfWhatIsNoTerminal) {
  EXPECT_FALSE(terminal_width(-1));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(terminal_width(ends[1]));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace chexbench
