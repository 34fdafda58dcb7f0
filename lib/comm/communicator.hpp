// Groups of ranks and their collective operations. Each rank is one process with one accelerator. mpi.cpp implements
// this interface over MPI, communicator.cpp for a single process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/reducer.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::comm {

// How gradients in device memory are averaged.
struct DeviceReducerConfig {
  // CUDA's index of the GPU in this process. It must be the same in every call.
  int gpu = 0;
  spec::CommSpec comm;
};

// How long this rank waits for others, and whether it reports that (wait_watch.hpp).
enum class Patience {
  limited,    // gives up after limit_waits()
  unlimited,  // gives up only for a rank that does not answer
  silent,     // the same, and silent while all ranks answer: waiting is its only job
};

// What a rank is doing, for the ranks that wait for it.
struct Phase {
  std::string what;  // "opens the data"
  Patience patience = Patience::unlimited;
};

// A group of ranks. Every function is collective over the group unless it says otherwise: all ranks of the group must
// call it, and in the same order. Each communicator may have one caller thread at a time; all MPI calls are made by a
// single thread of the World. Waiting ranks sleep instead of spinning.
// @throws DeviceError from any collective if a rank was lost, if the wait took too long (limit_waits()), or if an
// argument is invalid
// @throws InterruptedError from any collective if a signal arrives while it waits
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;   // not collective
  virtual int world() const = 0;  // not collective
  // Sums element by element over ranks, in place. The result has the same bits on every rank.
  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
  // Copies the bytes of rank `root` to all ranks. All spans have the same size, at most 2 GiB.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // Returns after all ranks have called it.
  virtual void barrier() = 0;
  // Returns the bytes of every rank, in the order of ranks, at `root`; an empty vector elsewhere. At most 2 GiB in
  // total.
  virtual std::vector<std::string> gather(const std::string& bytes, int root) = 0;
  // Set what this rank is doing from now on, and which step of it. Not collective; thread-safe and cheap. A world of
  // one ignores them, and so does any implementation without ranks that could wait.
  virtual void enter(const Phase& /*phase*/) {}
  virtual void enter_step(std::int64_t /*step*/) {}  // from 0
  // Makes this rank give up waits after so many seconds, with a DeviceError; 0: never. Not collective; thread-safe.
  virtual void limit_waits(double /*timeout_s*/) {}
  // Returns a group of the first `ranks` ranks; null on the other ranks. Collective over the whole group.
  virtual std::unique_ptr<Communicator> first(int ranks) = 0;
  // Returns a reducer that averages gradients in host memory over this group in the background, with the scheme
  // `comm.update`, over slowed-down links if `comm.model` is shaped. The communicator must outlive it. Not
  // collective.
  // @throws SpecError if `comm` asks for more servers than there are ranks, unless the group has one rank
  virtual std::unique_ptr<Reducer> make_reducer(const spec::CommSpec& comm) = 0;
  // Returns a reducer that averages gradients in device memory over the first `ranks` ranks; null on the other ranks.
  // Collective over the whole group, because NCCL splits smaller communicators off larger ones. The communicator must
  // outlive it.
  // @throws DeviceError if this rank cannot use the requested `comm.backend`
  // @throws SpecError as make_reducer()
  virtual std::unique_ptr<Reducer> make_device_reducer(int ranks, const DeviceReducerConfig& config) = 0;
};

// The processes that were started together. If all went well, every rank destroys its World at the end of the
// process. The destructor may end the process with exit code 0 if the library hangs while it ends MPI. If an exception
// destroys the World, all ranks end with ExitCode::device, because the others may be waiting for this one.
class World {
 public:
  virtual ~World() = default;
  // The group of all ranks; owned by the World.
  virtual Communicator& communicator() = 0;
  // The name and version of the MPI library, such as "MPICH 4.0.2", or "none".
  virtual std::string library() const = 0;
  // Ends all ranks at once with `exit_code`, for an error on one rank. Does not return.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

// Joins the ranks that mpirun or srun started. If the process was started alone (none of the launcher's environment
// variables is set), it makes a world of one rank and does not even load MPI. Call it once per process.
// @throws DeviceError if a launcher started several ranks and they cannot find each other: no MPI library, one that
// does not fit the launcher, `srun` without --mpi; or if MPI does not start
std::unique_ptr<World> join_world();

// Returns the world of one rank, in which every collective is the identity, and its reducer, which does nothing.
std::unique_ptr<World> make_single_world();
std::unique_ptr<Reducer> make_single_reducer();

// Returns every rank's text, on every rank, in the order of ranks. Collective, like the next two.
std::vector<std::string> all_gather(Communicator& communicator, const std::string& text);
// Returns the text, or the value, of rank 0 on every rank.
std::string broadcast_text(Communicator& communicator, std::string text);
bool broadcast_flag(Communicator& communicator, bool value);

}  // namespace chexbench::comm
