// Ranks: one process = one accelerator. mpi.cpp implements this over MPI, single.cpp is the world of one.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/reducer.hpp"
#include "spec/experiment.hpp"

namespace chexbench::comm {

// How gradients in device memory are averaged.
struct DeviceReducerConfig {
  int gpu = 0;  // of those that CUDA shows this process; the same in every call
  spec::CommSpec comm;
};

// A group of ranks. Every function is collective over the group unless it says otherwise, and must be called in the
// same order by all of it. Thread-safe in the sense that one caller thread a communicator at a time is allowed; all MPI
// calls are made by one thread of the World. Waiting ranks sleep instead of spinning.
// @throws DeviceError where a rank was lost
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;   // not collective
  virtual int world() const = 0;  // not collective
  // Sums element by element over ranks, in place. The result has the same bits on every rank.
  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  virtual void barrier() = 0;
  // Every rank's bytes at `root`, in the order of ranks; empty elsewhere.
  virtual std::vector<std::string> gather(const std::string& bytes, int root) = 0;
  // A group of the first `ranks` ranks; null on the others. Collective over the whole group.
  virtual std::unique_ptr<Communicator> first(int ranks) = 0;
  // Averages gradients over this group in the background, as `comm.update` says, over the links that `comm.model`
  // shaped describes. The communicator must outlive it. Not collective. @throws SpecError for more servers than ranks
  virtual std::unique_ptr<Reducer> make_reducer(const spec::CommSpec& comm) = 0;
  // Averages gradients in device memory over the first `ranks`; null on the others. Collective over the whole group,
  // as NCCL makes smaller communicators out of larger ones. The communicator must outlive it.
  // @throws DeviceError where this rank lacks what `comm.backend` asks for; SpecError as make_reducer()
  virtual std::unique_ptr<Reducer> make_device_reducer(int ranks, const DeviceReducerConfig& config) = 0;
};

// Where this process stands among the processes started together. Destroyed where all went well, on all ranks, at the
// end of the process: a library that hangs while it ends MPI makes it exit with 0.
class World {
 public:
  virtual ~World() = default;
  virtual Communicator& communicator() = 0;
  // "MPICH 4.0.2" or "none".
  virtual std::string library() const = 0;
  // Ends all ranks with `exit_code` at once: the answer to an error on one rank. Does not return.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

// Joins the ranks that mpirun started, or makes a world of one where the process was started alone (no launcher's
// environment variables): then MPI is not even initialized. Once per process.
// @throws DeviceError where a launcher started several ranks and this build has no MPI
std::unique_ptr<World> join_world();

// A reducer for a world of one: does nothing.
std::unique_ptr<Reducer> make_single_reducer();

}  // namespace chexbench::comm
