// Whether this process is one of several that a launcher (mpirun, srun) started together.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace chexbench::comm {

// Looks up an environment variable; null where it is not set. std::getenv, or a test's.
using Environment = std::function<const char*(const char*)>;

struct Launcher {
  std::string variable;      // that gave it away, e.g. "PMI_RANK"
  std::optional<int> ranks;  // where the launcher tells
};

// The launcher of MPICH and Intel MPI (PMI), Slurm's PMI-2 and PMIx, Open MPI; empty for a plain start. A batch job of
// Slurm without srun is a plain start.
std::optional<Launcher> find_launcher(const Environment& environment);

// To be called where a process ends well without MPI_Finalize. Gives MPICH's own launcher the word that it would wait
// for, or it would kill the host's other ranks; that takes 0.2 s. Does nothing where another launcher started the
// process.
void announce_end(const Environment& environment);

}  // namespace chexbench::comm
