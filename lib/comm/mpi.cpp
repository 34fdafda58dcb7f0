#include "comm/launcher.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "comm/arguments.hpp"
#include "comm/background_reducer.hpp"
#include "comm/comm_thread.hpp"
#include "comm/communicator.hpp"
#include "comm/device_reducers.hpp"
#include "comm/mpi_library.hpp"
#include "comm/mpi_operations.hpp"
#include "comm/mpi_start.hpp"
#include "comm/schemes/scheduled_average.hpp"
#include "comm/schemes/transport.hpp"
#include "comm/wait_watch.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/module.hpp"
#include "spec/keys.hpp"

namespace chexbench::comm {
namespace {

// When a job is aborted, launchers drop output of the ranks that they have not forwarded yet. Without this pause, one
// error message in thirty was lost.
constexpr double kForwardingS = 0.2;
constexpr double kFinalizeS = 5;    // MPI_Finalize normally takes milliseconds
constexpr double kRankNapS = 5e-3;  // for ranks that wait for others, or that do not belong to the current sub-world
constexpr int kCollectives = 0, kGradients = 1;  // WatchedLane::part

// The MPI communicators of one group. Gradients use a separate one, so that they cannot be confused with collectives
// that other threads call at the same time.
struct Group {
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm gradients = MPI_COMM_NULL;
  int rank = 0;
  int world = 1;
  std::uint64_t id = 0;  // the same on all its ranks
  Hosts hosts;           // for each rank: the first rank on its host
};

// Collective, on the comm thread.
Hosts find_hosts(MPI_Comm control, int rank, int world) {
  MPI_Comm neighbours = MPI_COMM_NULL;
  check_mpi(mpi().comm_split_type(control, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &neighbours),
            "MPI_Comm_split_type");
  int host = rank;
  check_mpi(mpi().bcast(&host, 1, MPI_INT, 0, neighbours), "MPI_Bcast");
  mpi().comm_free(&neighbours);
  Hosts hosts(static_cast<std::size_t>(world));
  check_mpi(mpi().allgather(&host, 1, MPI_INT, hosts.data(), 1, MPI_INT, control), "MPI_Allgather");
  return hosts;
}

// Takes ownership of `control`. Collective, on the comm thread.
Group make_group(MPI_Comm control, std::uint64_t id) {
  Group group{.control = control, .id = id};
  check_mpi(mpi().comm_dup(control, &group.gradients), "MPI_Comm_dup");
  check_mpi(mpi().comm_rank(control, &group.rank), "MPI_Comm_rank");
  check_mpi(mpi().comm_size(control, &group.world), "MPI_Comm_size");
  group.hosts = find_hosts(control, group.rank, group.world);
  return group;
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(CommThread& thread, WaitWatch& watch, Group group)
      : thread_(thread), watch_(watch), group_(std::move(group)) {}
  ~MpiCommunicator() override {
    // A signal or a time-out may have ended a collective whose buffers no longer exist. Then only MPI_Abort may follow.
    if (interrupt_requested() || watch_.gave_up()) return;
    thread_.run(this, [this] {
      if (half_sums_) half_sums_->free();
      mpi().comm_free(&group_.gradients);
      mpi().comm_free(&group_.control);
    });
  }

  int rank() const override { return group_.rank; }
  int world() const override { return group_.world; }
  void all_reduce_sum(std::span<float> values) override {
    run("sum over ranks", make_all_reduce(group_.control, values, 1));
  }
  void all_reduce_sum(std::span<double> values) override {
    run("sum over ranks", make_all_reduce(group_.control, values, 1));
  }
  void broadcast(std::span<std::byte> bytes, int root) override;
  void barrier() override { run("barrier", make_barrier(group_.control)); }
  std::vector<std::string> gather(const std::string& bytes, int root) override;
  void enter(const Phase& phase) override { watch_.enter(phase); }
  void enter_step(std::int64_t step) override { watch_.enter_step(step); }
  void limit_waits(double timeout_s) override { watch_.limit(timeout_s); }
  std::unique_ptr<Communicator> first(int ranks) override;
  std::unique_ptr<Reducer> make_reducer(const spec::CommSpec& comm) override;
  std::unique_ptr<Reducer> make_device_reducer(int ranks, const DeviceReducerConfig& config) override {
    return device_reducers_.make(*this, ranks, config);
  }

 private:
  void run(std::string_view what, Poll poll) {
    thread_.run(this, kRankNapS, watch_.watched(lane(kCollectives), what, std::move(poll)));
  }
  WatchedLane lane(int part) const { return {.group = group_.id, .part = part, .ranks = group_.world}; }
  MakeAverage library_averages(FloatType dtype);

  CommThread& thread_;
  WaitWatch& watch_;
  Group group_;
  std::uint64_t groups_made_ = 0;
  std::unique_ptr<HalfSums> half_sums_;  // made at the first request
  DeviceReducers device_reducers_;
};

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int root) {
  check_root(root, group_.world);
  const int count = checked_size(bytes.size(), "a broadcast");
  run("broadcast", make_poll("MPI_Ibcast", [&](MPI_Request* request) {
        return mpi().ibcast(bytes.data(), count, MPI_BYTE, root, group_.control, request);
      }));
}

std::vector<std::string> MpiCommunicator::gather(const std::string& bytes, int root) {
  check_root(root, group_.world);
  const int own_bytes = checked_size(bytes.size(), "a gathered text");
  const bool is_root = group_.rank == root;
  std::vector<int> counts(is_root ? static_cast<std::size_t>(group_.world) : 0);
  run("gather", make_poll("MPI_Igather", [&](MPI_Request* request) {
        return mpi().igather(&own_bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, root, group_.control, request);
      }));
  checked_size(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), "all gathered text");
  std::vector<int> offsets(counts.size());
  if (is_root) std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  std::string all(is_root ? static_cast<std::size_t>(offsets.back() + counts.back()) : 0, '\0');
  run("gather", make_poll("MPI_Igatherv", [&](MPI_Request* request) {
        return mpi().igatherv(bytes.data(), own_bytes, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE,
                              root, group_.control, request);
      }));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(counts[i])));
  }
  return texts;
}

std::unique_ptr<Communicator> MpiCommunicator::first(int ranks) {
  check_first(ranks, group_.world);
  barrier();                                       // MPI_Comm_split blocks and spins, so all ranks enter it together
  constexpr std::uint64_t kMostGroups = 1u << 16;  // of one group: far more than any run creates
  const std::uint64_t id = group_.id * kMostGroups + ++groups_made_;
  Group group;
  thread_.run(this, [&] {
    MPI_Comm control = MPI_COMM_NULL;
    const int color = group_.rank < ranks ? 0 : MPI_UNDEFINED;
    check_mpi(mpi().comm_split(group_.control, color, group_.rank, &control), "MPI_Comm_split");
    if (control != MPI_COMM_NULL) group = make_group(control, id);
  });
  if (group.control == MPI_COMM_NULL) return nullptr;
  return std::make_unique<MpiCommunicator>(thread_, watch_, std::move(group));
}

// Averages by messages between ranks, as the project's own schemes do.
MakeAverage scheduled_averages(const Group& group, const spec::CommSpec& comm) {
  std::unique_ptr<Transport> links = make_mpi_transport(group.gradients);
  if (comm.model == spec::CommModel::shaped) {
    links = make_shaped_transport(std::move(links), {.latency_s = comm.alpha_s, .bytes_per_s = comm.beta_bytes_per_s},
                                  now_s);
  }
  make_schedule(comm, group.rank, group.hosts, 1);  // throws SpecError if there is no such schedule
  const AverageConfig average{.scale = 1.0f / static_cast<float>(group.world), .dtype = comm.gradient_dtype};
  return [&group, comm, average, transport = std::shared_ptr<Transport>(std::move(links))](std::span<float> values) {
    Schedule schedule = make_schedule(comm, group.rank, group.hosts, values.size());
    return begin_together(group.gradients, values.size_bytes(),
                          make_scheduled_average(*transport, std::move(schedule), values, average));
  };
}

// Returns averages by the MPI library's own all-reduce.
MakeAverage MpiCommunicator::library_averages(FloatType dtype) {
  if (dtype == FloatType::f32) {
    const float scale = 1.0f / static_cast<float>(group_.world);
    return [gradients = group_.gradients, scale](std::span<float> values) {
      return make_all_reduce(gradients, values, scale);
    };
  }
  if (!half_sums_) thread_.run(this, [this] { half_sums_ = std::make_unique<HalfSums>(); });
  return [this, dtype](std::span<float> values) {
    return half_sums_->average(group_.gradients, values, dtype, group_.world);
  };
}

std::unique_ptr<Reducer> MpiCommunicator::make_reducer(const spec::CommSpec& comm) {
  if (group_.world == 1) return make_single_reducer();
  MakeAverage averages = comm.update == spec::UpdateScheme::all_reduce ? library_averages(comm.gradient_dtype)
                                                                       : scheduled_averages(group_, comm);
  const auto watched = [this, averages = std::move(averages)](std::span<float> values) {
    return watch_.watched(lane(kGradients), "averaging of gradients", averages(values));
  };
  return std::make_unique<BackgroundReducer>(thread_, &group_, group_.world, watched, bytes_of(comm.gradient_dtype));
}

class MpiWorld final : public World {
 public:
  explicit MpiWorld(const Launcher& launcher);
  ~MpiWorld() override;

  Communicator& communicator() override { return *communicator_; }
  std::string library() const override { return library_; }
  [[noreturn]] void abort(int exit_code) override;

 private:
  void initialize(const Launcher& launcher);
  void meet_at_the_end();
  void finalize(bool is_root);

  std::string library_;
  const int exceptions_ = std::uncaught_exceptions();
  MPI_Comm notes_ = MPI_COMM_NULL;
  std::unique_ptr<WaitWatch> watch_;  // outlives thread_
  CommThread thread_;
  std::unique_ptr<Communicator> communicator_;
};

MpiWorld::MpiWorld(const Launcher& launcher) {
  const StartWatch watch = watch_start(launcher);
  thread_.run(this, [&] { initialize(launcher); });
  thread_.attend([this] { return watch_->look(); });
}

// Collective, on the comm thread.
std::vector<std::string> names_of_hosts(MPI_Comm comm, int world) {
  char own[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  check_mpi(mpi().get_processor_name(own, &length), "MPI_Get_processor_name");
  std::string all(static_cast<std::size_t>(world) * sizeof own, '\0');
  check_mpi(mpi().allgather(own, sizeof own, MPI_CHAR, all.data(), sizeof own, MPI_CHAR, comm), "MPI_Allgather");
  std::vector<std::string> names;
  for (std::size_t at = 0; at < all.size(); at += sizeof own) names.emplace_back(all.c_str() + at);
  return names;
}

// Returns the library's own description, which is available before MPI_Init.
std::string description_of_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  check_mpi(mpi().get_library_version(text, &length), "MPI_Get_library_version");
  return {text, static_cast<std::size_t>(length)};
}

// @throws DeviceError if each of several ranks appears alone to the library
void start_library(const Launcher& launcher, const std::string& library) {
  // MPICH 5 built without PMIx ends the process if it finds PMIx, the protocol of Open MPI's mpirun.
  std::optional<LibraryExitMessage> on_exit;
  if (!launcher.variable.starts_with("PMI_") && !library.starts_with("Open MPI")) {
    on_exit.emplace(say_library_gave_up(launcher, library));
  }
  int provided = 0;
  check_mpi(mpi().init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED) throw DeviceError("comm: this MPI cannot be used by a program with threads");
  check_mpi(mpi().comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int world = 1;
  check_mpi(mpi().comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
  if (world == 1 && launcher.ranks.value_or(1) > 1) throw DeviceError(say_ranks_are_alone(launcher, library));
}

void MpiWorld::initialize(const Launcher& launcher) {
  const std::string description = description_of_library();
  library_ = short_library_name(description);
  check_shared_memory(std::getenv, description, measure::probe_shared_memory());
  start_library(launcher, library_);
  MPI_Comm control = MPI_COMM_NULL;
  check_mpi(mpi().comm_dup(MPI_COMM_WORLD, &control), "MPI_Comm_dup");
  check_mpi(mpi().comm_dup(MPI_COMM_WORLD, &notes_), "MPI_Comm_dup");
  Group group = make_group(control, 0);
  watch_ = std::make_unique<WaitWatch>(group.rank, names_of_hosts(control, group.world), make_mpi_notes(notes_), now_s,
                                       [](const std::string& line) { log::warning("{}", line); });
  communicator_ = std::make_unique<MpiCommunicator>(thread_, *watch_, std::move(group));
}

MpiWorld::~MpiWorld() {
  // MPI_Finalize waits for all ranks. A rank that leaves because of an exception must not call it, because the others
  // may be waiting for that rank elsewhere.
  if (std::uncaught_exceptions() > exceptions_) abort(static_cast<int>(ExitCode::device));
  meet_at_the_end();
  const bool is_root = communicator_->rank() == 0;
  communicator_.reset();
  thread_.attend({});
  thread_.run(this, [this] { mpi().comm_free(&notes_); });
  finalize(is_root);
}

// MPI_Finalize spins, so all ranks enter it together. A signal must not end this barrier: rank 0 may still be writing.
void MpiWorld::meet_at_the_end() {
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};  // no other group has this number
  watch_->enter({.what = "has nothing left to do", .patience = Patience::unlimited});
  try {
    thread_.run(this, kRankNapS,
                watch_->watched({.group = kEnd, .ranks = communicator_->world()}, "end of the run",
                                make_barrier(MPI_COMM_WORLD)),
                OnSignal::go_on);
  } catch (const Error& error) {
    log::error("{}", error.what());
    abort(static_cast<int>(error.code()));
  }
}

// Called after all ranks have met and all results are written. Some libraries still hang in MPI_Finalize (README.md);
// then the process just exits.
void MpiWorld::finalize(bool is_root) {
  const auto ended = std::make_shared<std::promise<void>>();
  thread_.submit({.lane = this,
                  .poll =
                      [] {
                        mpi().finalize();
                        return Progress::done;
                      },
                  .on_signal = OnSignal::go_on,
                  .done = [ended](const std::exception_ptr&) { ended->set_value(); }});
  if (ended->get_future().wait_for(std::chrono::duration<double>(kFinalizeS)) == std::future_status::ready) return;
  if (is_root) log::info("comm: {} takes more than {} s to end MPI: left without it", library_, kFinalizeS);
  std::fflush(nullptr);
  thread_.freeze();  // when another rank leaves, the library would continue or report an error
  announce_end(std::getenv);
  std::_Exit(EXIT_SUCCESS);
}

void MpiWorld::abort(int exit_code) {
  std::fflush(nullptr);
  sleep_until_s(now_s() + kForwardingS);
  thread_.submit({.lane = nullptr,
                  .longest_nap_s = kRankNapS,
                  .poll = [exit_code]() -> Progress {
                    // The aborting rank already printed the reason. MPI_Abort would add a line that looks like a crash.
                    if (!abort_by_launcher(std::getenv, exit_code)) mpi().abort(MPI_COMM_WORLD, exit_code);
                    std::_Exit(exit_code);
                  },
                  .on_signal = OnSignal::go_on,
                  .done = [](const std::exception_ptr&) {}});
  // The comm thread may hang in a blocking call. When a rank just exits, the launcher ends the other ranks too.
  constexpr double kPatienceS = 5;
  sleep_until_s(now_s() + kPatienceS);
  std::_Exit(exit_code);
}

}  // namespace

std::unique_ptr<World> make_mpi_world(const Launcher& launcher) {
  try {
    mpi();
  } catch (const DeviceError& error) {
    if (launcher.ranks == 1) return make_single_world();
    throw DeviceError(say_ranks_lack_mpi(launcher, error.what()));
  }
  return std::make_unique<MpiWorld>(launcher);
}

}  // namespace chexbench::comm
