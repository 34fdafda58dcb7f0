// Detects whether a launcher (mpirun, srun) started this process together with others, and joins them or ends them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "comm/communicator.hpp"

namespace chexbench::comm {

// Looks up an environment variable; returns null if it is not set. This is std::getenv or a function of a test.
using Environment = std::function<const char*(const char*)>;

// A launcher that was detected.
struct Launcher {
  std::string name;          // for errors, for example "mpirun of Open MPI"
  std::string variable;      // the variable that shows it, for example "PMI_RANK"
  std::optional<int> ranks;  // how many ranks it started, if known
};

// Detects the launchers of MPICH and Intel MPI (PMI), Slurm's PMI-2, PMIx and cray_shasta, and Open MPI. Returns
// std::nullopt for a plain start. A Slurm batch job without srun is a plain start.
// @throws DeviceError if srun started several tasks without telling them how to find each other (--mpi=none), unless
// this is the shell of `srun --pty`: each would consider itself the only rank
std::optional<Launcher> find_launcher(const Environment& environment);

// Returns the number of this rank, or 0 where the launcher gives none.
int launched_rank(const Environment& environment);

// Returns how many ranks the launcher started on this host, or 1 where it gives no number.
std::uint64_t ranks_of_host(const Environment& environment);

// For an error that every rank has: gives the first rank a second to report it. Does nothing in that rank.
void let_first_rank_report(const Environment& environment);

// Messages on why the ranks of a launcher cannot find each other, with the remedy: they cannot use MPI because of
// `reason`; or the `library`, "MPICH 4.0.2", does not understand the launcher, so each rank appears alone or was ended.
std::string say_ranks_lack_mpi(const Launcher& launcher, std::string_view reason);
std::string say_ranks_are_alone(const Launcher& launcher, std::string_view library);
std::string say_library_gave_up(const Launcher& launcher, std::string_view library);

// The message that this rank waits for others that have not started MPI, with the usual cause and the remedy.
std::string say_ranks_are_missing(const Launcher& launcher, int rank, double waited_s);

// Returns whether an assignment of the environment, "PMI_RANK=0", comes from one of these launchers: a program that a
// rank starts would consider itself that rank.
bool is_launcher_variable(std::string_view assignment);

// Must be called if a process ends successfully without MPI_Finalize. It sends MPICH's own launcher the message that
// it waits for; otherwise the launcher would kill the host's other ranks. This takes 0.2 s. Does nothing if another
// launcher started the process.
void announce_end(const Environment& environment);

// Waits until the reader of a pipe, whose end for writing is `file`, has read all of it, and at most `most_s`. Does
// nothing if `file` is no pipe. Allocates no memory.
void wait_until_read(int file, double most_s);

// Asks MPICH's own launcher to end all ranks, and mpirun with that exit code, and waits 0.2 s for that. Before, it lets
// the launcher read what this process printed, which would be dropped. Returns whether it was asked: not if another
// launcher started the process. Allocates no memory. Only one thread may talk to the launcher, which in a process that
// has joined the others is the one that makes MPI calls.
bool abort_by_launcher(const Environment& environment, int exit_code);

// Must be called if a process fails that has not joined the other ranks or cannot end them by MPI_Abort: they would
// wait for it in MPI_Init for ever. Like abort_by_launcher(), but ranks other than 0 give rank 0 a second to do so,
// because it may have the same error to report. Does nothing if the launcher started the process alone.
void abort_ranks(const Environment& environment, int exit_code);

// Returns a World of the ranks that the launcher started. Loads MPI, and initializes it on a thread that then makes all
// MPI calls of the process. Call it once per process. Without an MPI library, and in a build without MPI, it returns a
// world of one rank if the launcher started one rank.
// @throws DeviceError if there are several ranks and no MPI, if MPI does not start, or if each rank appears alone
// because the launcher belongs to another MPI
std::unique_ptr<World> make_mpi_world(const Launcher& launcher);

}  // namespace chexbench::comm
