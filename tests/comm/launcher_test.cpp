#include "comm/launcher.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::optional<Launcher> launcher_of(const Variables& variables) { return find_launcher(environment_of(variables)); }

TEST(Launcher, IsFoundByTheVariablesOfEachLauncher) {
  EXPECT_EQ(launcher_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}})->ranks, 4);
  EXPECT_EQ(launcher_of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}})->ranks, 2);
  EXPECT_EQ(launcher_of({{"PMIX_RANK", "3"}})->variable, "PMIX_RANK");
  EXPECT_EQ(launcher_of({{"PMI_FD", "7"}})->variable, "PMI_FD");
  EXPECT_EQ(launcher_of({{"PALS_RANKID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}})->ranks, 2);
}

TEST(Launcher, HasAName) {
  const auto name_of = [](const Variables& variables) { return launcher_of(variables)->name; };
  EXPECT_EQ(name_of({{"PMI_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}}), "mpirun of MPICH or Intel MPI");
  EXPECT_EQ(name_of({{"PMI_RANK", "0"}, {"PMI_JOBID", "8.0"}}), "srun");
  EXPECT_EQ(name_of({{"PMIX_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}), "mpirun of Open MPI");
  EXPECT_EQ(name_of({{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "prterun-vm-1@1"}, {"SLURM_STEP_NUM_TASKS", "2"}}),
            "a launcher");
}

TEST(Launcher, IsAbsentInAPlainStartAndInABatchJobWithoutSrun) {
  EXPECT_FALSE(launcher_of({}));
  EXPECT_FALSE(launcher_of({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}));
}

TEST(Launcher, OfSlurmMustTellTasksHowToFindEachOther) {
  EXPECT_THAT(
      [] {
        launcher_of({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}});
      },
      ThrowsMessage<DeviceError>(
          AllOf(HasSubstr("srun started 8 tasks"), HasSubstr("SLURM_STEP_NUM_TASKS"), HasSubstr("`srun --mpi=pmi2`"))));
  EXPECT_FALSE(launcher_of({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}));
  EXPECT_FALSE(launcher_of({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PTY_PORT", "4711"}})) << "srun --pty bash";
  const auto by_pmix =
      launcher_of({{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.3.0"}, {"SLURM_STEP_NUM_TASKS", "8"}});
  EXPECT_EQ(by_pmix->name, "srun");
  EXPECT_EQ(by_pmix->ranks, 8);
}

TEST(Launcher, TellsTheFirstRankFromLaterOnes) {
  for (const char* variable : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    EXPECT_EQ(launched_rank(environment_of({{variable, "0"}})), 0) << variable;
    EXPECT_EQ(launched_rank(environment_of({{variable, "3"}})), 3) << variable;
  }
  EXPECT_EQ(launched_rank(environment_of({})), 0);
}

TEST(SayRanksAreMissing, NamesTheRankItsWaitAndTheSizeOfTheJob) {
  EXPECT_THAT(say_ranks_are_missing({.name = "srun", .variable = "PMI_RANK", .ranks = 12}, 3, 69.2),
              AllOf(HasSubstr("rank 3"), HasSubstr("69 s"), HasSubstr("12 ranks"), HasSubstr("MPI_Init")));
  EXPECT_THAT(say_ranks_are_missing({.name = "a launcher", .variable = "PMIX_RANK", .ranks = {}}, 0, 9),
              HasSubstr("several ranks"));
}

TEST(SayLibraryGaveUp, NamesBothAndTheWayOut) {
  const Variables variables{{"PMIX_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  EXPECT_THAT(say_library_gave_up(*launcher_of(variables), "MPICH 5.0.2"),
              AllOf(HasSubstr("mpirun of Open MPI started 2 ranks (PMIX_RANK is set), but MPICH 5.0.2"),
                    HasSubstr("message above: start it with the mpirun of MPICH 5.0.2, or")));
}

TEST(SayRanksAreAlone, NamesBothAndTheWayOut) {
  const auto said = [](const Variables& variables, const char* library) {
    return say_ranks_are_alone(*launcher_of(variables), library);
  };
  EXPECT_THAT(said({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}, "MPICH 4.0.2"),
              AllOf(HasSubstr("mpirun of Open MPI started 2 ranks"), HasSubstr("but MPICH 4.0.2"),
                    HasSubstr("start it with the mpirun of MPICH 4.0.2, or build chexbench with Open MPI")));
  EXPECT_THAT(said({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "Open MPI v4.1.4"),
              HasSubstr("start it with the mpirun of Open MPI v4.1.4, or build chexbench with MPICH"));
  EXPECT_THAT(said({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}}, "MPICH 4.0.2"),
              AllOf(HasSubstr("srun started 2 ranks"), HasSubstr("`srun --mpi=list`")));
}

TEST(Launcher, LeavesTheNumberOfRanksOpenWhereItIsNotTold) {
  EXPECT_EQ(launcher_of({{"PMIX_RANK", "0"}})->ranks, std::nullopt);
  for (const char* nonsense : {"", "two", "2x", "0", "-3", "99999999999"})
    EXPECT_EQ(launcher_of({{"PMI_RANK", "0"}, {"PMI_SIZE", nonsense}})->ranks, std::nullopt) << nonsense;
}

// Returns the text that `tell` writes to the launcher that set `variables` and PMI_FD.
std::string told(Variables variables, const std::function<void(const Environment&)>& tell) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  variables["PMI_FD"] = std::to_string(ends[1]);
  tell(environment_of(variables));
  close(ends[1]);
  char text[100];
  const ssize_t count = read(ends[0], text, sizeof text);
  close(ends[0]);
  return std::string(text, static_cast<std::size_t>(count));
}

std::string announcement(const Variables& variables) { return told(variables, announce_end); }

TEST(Launcher, OfMpichEndsTheRanksOfAProcessThatFailsBeforeItJoinsThem) {
  const auto aborted = [](const Variables& variables) {
    return told(variables, [](const Environment& environment) { abort_ranks(environment, 4); });
  };
  EXPECT_EQ(aborted({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), "cmd=abort exitcode=4\n");
  EXPECT_EQ(aborted({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), "") << "nobody waits";
  EXPECT_EQ(aborted({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "8.0"}}), "") << "srun";
}

TEST(Launcher, OfMpichAloneEndsTheRanksOfAProcessThatHasJoinedThem) {
  bool was_asked = false;
  const auto abort = [&](const Environment& environment) { was_asked = abort_by_launcher(environment, 130); };
  EXPECT_EQ(told({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, abort), "cmd=abort exitcode=130\n");
  EXPECT_TRUE(was_asked);
  EXPECT_EQ(told({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "8.0"}}, abort), "") << "srun";
  EXPECT_FALSE(was_asked);
}

TEST(Launcher, OfMpichAloneIsToldThatAProcessEnds) {
  EXPECT_EQ(announcement({{"PMI_RANK", "0"}, {"HYDI_CONTROL_FD", "7"}}), "cmd=finalize\n");
  EXPECT_EQ(announcement({{"PMI_RANK", "1"}}), "cmd=finalize\n") << "a rank on another host than mpirun's";
  EXPECT_EQ(announcement({{"PMI_RANK", "0"}, {"PMI_JOBID", "8.0"}}), "") << "srun";
}

TEST(WaitUntilRead, EndsWhenThePipeIsEmptyOrTheTimeIsUp) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  wait_until_read(ends[1], 60);  // nothing to read
  ASSERT_EQ(write(ends[1], "error", 5), 5);
  wait_until_read(ends[1], 0.01);  // there is no reader
  std::atomic<bool> is_read = false;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_read = true;
    char text[5];
    EXPECT_EQ(read(ends[0], text, sizeof text), 5);
  });
  wait_until_read(ends[1], 60);
  EXPECT_TRUE(is_read);
  reader.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(WaitUntilRead, WaitsForNothingButPipes) {
  const int file = open("/dev/null", O_WRONLY);
  wait_until_read(file, 60);
  close(file);
  wait_until_read(-1, 60);
}

TEST(VariablesOfALauncher, AreToldFromOthers) {
  for (const char* mine :
       {"PMI_RANK=1", "PMIX_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "HYDI_CONTROL_FD=9", "SLURM_STEP_NUM_TASKS=2"})
    EXPECT_TRUE(is_launcher_variable(mine)) << mine;
  for (const char* other : {"PATH=/bin", "SLURM_JOB_ID=1", "MY_PMI_RANK=1", "OMP_NUM_THREADS=2"})
    EXPECT_FALSE(is_launcher_variable(other)) << other;
}

}  // namespace
}  // namespace chexbench::comm
