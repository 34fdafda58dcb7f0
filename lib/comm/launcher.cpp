#include "comm/launcher.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "comm/communicator.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/numbers.hpp"

namespace chexbench::comm {
namespace {

// Each launcher sets one of these for each rank: hydra of MPICH and Intel MPI, and Slurm's PMI-2 (PMI_*), PMIx
// launchers, Open MPI, Slurm's cray_shasta.
constexpr std::array kRankVariables{"PMI_RANK",  "PMI_FD",      "PMI_PORT",
                                    "PMIX_RANK", "PALS_RANKID", "OMPI_COMM_WORLD_RANK"};
// Set by hydra for the ranks on mpirun's own host, but not on other hosts.
constexpr const char* kHydraControl = "HYDI_CONTROL_FD";
// Set by Slurm's PMI-2, but not by hydra.
constexpr const char* kPmi2Job = "PMI_JOBID";
constexpr const char* kSrun = "srun";
constexpr const char* kHydra = "mpirun of MPICH or Intel MPI";
constexpr const char* kOpenMpi = "mpirun of Open MPI";
constexpr std::string_view kEnd = "cmd=finalize\n";
constexpr double kAnswerS = 0.2;  // time for hydra to answer: it fails if the process has already ended
constexpr double kRootS = 1;      // time for rank 0 to report an error that every rank has
constexpr double kReadingS = 3;  // time for hydra to read what this process printed: milliseconds, if it is not starved

constexpr std::array kSizeVariables{"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"};
// Slurm sets this in the tasks of srun alone, and not in a batch script, which has SLURM_PROCID and SLURM_NTASKS, too.
constexpr const char* kStepTasks = "SLURM_STEP_NUM_TASKS";
constexpr const char* kSrunTerminal = "SLURM_PTY_PORT";  // set in the shell that `srun --pty bash` starts

std::optional<int> read_count(const char* text) {
  if (text == nullptr) return {};
  const auto value = parse_number<int>(text);
  return value && *value >= 1 ? value : std::nullopt;
}

// Returns hydra's PMI_FD, a socket that carries lines of text (PMI 1). Slurm's PMI_FD carries another protocol.
std::optional<int> hydra_socket(const Environment& environment) {
  const bool is_hydra = environment(kHydraControl) != nullptr || environment(kPmi2Job) == nullptr;
  return is_hydra ? read_count(environment("PMI_FD")) : std::nullopt;
}

std::string name_of_launcher(std::string_view variable, const Environment& environment) {
  if (variable.starts_with("PMI_")) return environment(kPmi2Job) != nullptr ? kSrun : kHydra;
  if (environment("OMPI_COMM_WORLD_SIZE") != nullptr) return kOpenMpi;
  const char* const job = environment("PMIX_NAMESPACE");
  const bool is_srun =
      environment(kStepTasks) != nullptr && (job == nullptr || std::string_view(job).starts_with("slurm"));
  return is_srun ? kSrun : "a launcher";
}

std::string what_it_did(const Launcher& launcher) {
  return fmt::format("{} started {} ranks ({} is set)", launcher.name,
                     launcher.ranks ? std::to_string(*launcher.ranks) : "several", launcher.variable);
}

std::string way_out(const Launcher& launcher, std::string_view library) {
  if (launcher.name == kSrun) {
    return "start it with another --mpi of srun (pmi2 for MPICH and Intel MPI, pmix for Open MPI; `srun --mpi=list` "
           "shows what there is), or with its mpirun";
  }
  return fmt::format("start it with the mpirun of {}, or build chexbench with {}", library,
                     launcher.name == kOpenMpi ? "Open MPI" : "MPICH");
}

void check_srun(const Environment& environment) {
  const int tasks = read_count(environment(kStepTasks)).value_or(1);
  if (tasks == 1 || environment(kSrunTerminal) != nullptr) return;
  throw DeviceError(
      fmt::format("comm: srun started {} tasks ({} is set) without PMI, by which they would find each other, so each "
                  "would run as the only rank: start it with `srun --mpi=pmi2` (with Open MPI: --mpi=pmix; `srun "
                  "--mpi=list` shows what there is), or with mpirun",
                  tasks, kStepTasks));
}

}  // namespace

std::optional<Launcher> find_launcher(const Environment& environment) {
  for (const char* variable : kRankVariables) {
    if (environment(variable) == nullptr) continue;
    Launcher launcher{.name = name_of_launcher(variable, environment), .variable = variable, .ranks = {}};
    for (const char* size : kSizeVariables) {
      if (!launcher.ranks) launcher.ranks = read_count(environment(size));
    }
    if (!launcher.ranks && launcher.name == kSrun) launcher.ranks = read_count(environment(kStepTasks));
    return launcher;
  }
  check_srun(environment);
  return {};
}

int launched_rank(const Environment& environment) {
  constexpr std::array kRanks{"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
  const auto told = std::ranges::find_if(kRanks, [&](const char* name) { return environment(name) != nullptr; });
  return told != kRanks.end() ? read_count(environment(*told)).value_or(0) : 0;
}

std::uint64_t ranks_of_host(const Environment& environment) {
  return static_cast<std::uint64_t>(read_count(environment("MPI_LOCALNRANKS")).value_or(1));  // of hydra
}

void let_first_rank_report(const Environment& environment) {
  if (launched_rank(environment) > 0) sleep_until_s(now_s() + kRootS);
}

std::string say_ranks_lack_mpi(const Launcher& launcher, std::string_view reason) {
  return fmt::format("comm: {}, but each would run as the only one: {}", what_it_did(launcher), reason);
}

std::string say_ranks_are_alone(const Launcher& launcher, std::string_view library) {
  return fmt::format("comm: {}, but {}, which chexbench uses, takes each for the only one: {}", what_it_did(launcher),
                     library, way_out(launcher, library));
}

std::string say_library_gave_up(const Launcher& launcher, std::string_view library) {
  return fmt::format("comm: {}, but {}, which chexbench uses, gave up with the message above: {}",
                     what_it_did(launcher), library, way_out(launcher, library));
}

std::string say_ranks_are_missing(const Launcher& launcher, int rank, double waited_s) {
  return fmt::format(
      "rank {}: waiting in MPI_Init for {:.0f} s: not all of the {} ranks of this job have come. Usually one hangs "
      "before it starts chexbench (a wrapper script, a file system), runs or ran another command, or its host cannot "
      "reach the others: look for it with ps on each host, or end the job with Ctrl-C and start all ranks with the "
      "same command",
      rank, waited_s, launcher.ranks ? std::to_string(*launcher.ranks) : "several");
}

bool is_launcher_variable(std::string_view assignment) {
  constexpr std::array<std::string_view, 6> kPrefixes{"PMI_", "PMIX_", "OMPI_", "HYDI_", "PALS_", "SLURM_STEP_"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return assignment.starts_with(prefix); });
}

void announce_end(const Environment& environment) {
  const std::optional<int> socket = hydra_socket(environment);
  if (!socket) return;
  if (::write(*socket, kEnd.data(), kEnd.size()) == static_cast<ssize_t>(kEnd.size()))
    sleep_until_s(now_s() + kAnswerS);
}

void wait_until_read(int file, double most_s) {
  constexpr double kLookS = 0.005;
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  const double end_s = now_s() + most_s;
  int unread = 0;
  while (::ioctl(file, FIONREAD, &unread) == 0 && unread > 0 && now_s() < end_s) sleep_until_s(now_s() + kLookS);
}

bool abort_by_launcher(const Environment& environment, int exit_code) {
  const std::optional<int> socket = hydra_socket(environment);
  if (!socket) return false;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) wait_until_read(stream, kReadingS);
  std::array<char, 64> line{};
  const int length = std::snprintf(line.data(), line.size(), "cmd=abort exitcode=%d\n", exit_code);
  if (::write(*socket, line.data(), static_cast<std::size_t>(length)) != length) return false;
  sleep_until_s(now_s() + kAnswerS);
  return true;
}

void abort_ranks(const Environment& environment, int exit_code) {
  if (!hydra_socket(environment) || read_count(environment("PMI_SIZE")).value_or(1) == 1) return;
  let_first_rank_report(environment);
  abort_by_launcher(environment, exit_code);
}

std::unique_ptr<World> join_world() {
  try {
    const std::optional<Launcher> launcher = find_launcher(std::getenv);
    return launcher ? make_mpi_world(*launcher) : make_single_world();
  } catch (const DeviceError&) {
    let_first_rank_report(std::getenv);  // most launchers then end the others
    throw;
  } catch (const std::system_error&) {  // no thread
    let_first_rank_report(std::getenv);
    throw;
  }
}

}  // namespace chexbench::comm
