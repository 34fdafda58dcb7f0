#include "comm/device_reducers.hpp"

#include <span>
#include <utility>

#include "comm/arguments.hpp"
#include "comm/device_copies.hpp"
#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/half.hpp"
#include "core/log.hpp"

namespace chexbench::comm {
namespace {

// Returns whether to use NCCL; all ranks get the same answer. NCCL chooses its own algorithm and sends gradients as
// they are on the GPU, so other schemes and a `comm.gradient_dtype` other than f32 go over MPI.
// @throws DeviceError if NCCL is asked for and this rank lacks it
bool uses_nccl(Communicator& group, const spec::CommSpec& comm) {
  const spec::CommBackend backend = comm.backend;
  if (backend == spec::CommBackend::mpi || comm.update != spec::UpdateScheme::all_reduce) return false;
  if (comm.gradient_dtype != FloatType::f32) return false;
  const std::string problem = nccl_problem();
  if (backend == spec::CommBackend::nccl && !problem.empty()) throw DeviceError(problem);
  double lacking = problem.empty() ? 0 : 1;
  group.all_reduce_sum(std::span(&lacking, 1));
  if (!problem.empty()) log::warning("{}: gradients are averaged in host memory, over MPI", problem);
  return lacking == 0;
}

}  // namespace

std::unique_ptr<Reducer> DeviceReducers::make(Communicator& group, int ranks, const DeviceReducerConfig& config) {
  check_first(ranks, group.world());
  if (ranks == 1) return group.rank() == 0 ? make_single_reducer() : nullptr;
  if (uses_nccl(group, config.comm)) return nccl_world(group, config.gpu).make_reducer(ranks);
  std::unique_ptr<Communicator> members = group.first(ranks);
  if (!members) return nullptr;
  return std::make_unique<StagedReducer>(std::move(members), config.comm, make_device_copies(config.gpu));
}

NcclWorld& DeviceReducers::nccl_world(Communicator& group, int gpu) {
  if (!nccl_world_) {
    NcclId id{};
    if (group.rank() == 0) id = make_nccl_id();
    group.broadcast(id, 0);
    nccl_world_ = join_nccl(id, {.rank = group.rank(), .world = group.world(), .gpu = gpu});
  }
  return *nccl_world_;
}

StagedReducer::StagedReducer(std::unique_ptr<Communicator> group, const spec::CommSpec& comm,
                             std::unique_ptr<DeviceCopies> copies)
    : group_(std::move(group)),
      copies_(std::move(copies)),
      host_(group_->make_reducer(comm)),
      world_(group_->world()),
      thread_([this] { work(); }) {}

StagedReducer::~StagedReducer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StagedReducer::reduce(BucketSpan bucket, ReadyEvent ready) {
  check_device_bucket(bucket, ready);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({bucket, ready});
  }
  changed_.notify_all();
}

void StagedReducer::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
  last_ = std::exchange(current_, {});
  if (error_) std::rethrow_exception(error_);
}

void StagedReducer::check() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void StagedReducer::work() {
  name_this_thread("staging");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    const bool failed = error_ != nullptr;  // after an error the ranks may disagree on the next bucket
    lock.unlock();
    ReducerTimings spent;
    std::exception_ptr error;
    try {
      if (!failed) spent = process(job);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    current_.busy_s += spent.busy_s;
    current_.reduced_bytes += spent.reduced_bytes;
    if (error) error_ = error;
    jobs_.pop_front();
    changed_.notify_all();
  }
}

ReducerTimings StagedReducer::process(const Job& job) {
  copies_->wait(job.ready);
  const double begin_s = now_s();
  const std::span<std::byte> host = copies_->host_buffer(job.bucket.bytes());
  copies_->to_host(job.bucket.data, host);
  average(host, job.bucket);
  copies_->to_device(host, job.bucket.data);
  return {.busy_s = now_s() - begin_s, .reduced_bytes = job.bucket.bytes()};
}

void StagedReducer::average(std::span<std::byte> host, const BucketSpan& bucket) {
  switch (bucket.type) {
    case FloatType::f32:
      return average(std::span(reinterpret_cast<float*>(host.data()), bucket.count));
    case FloatType::fp16:
      return average_widened(std::span(reinterpret_cast<Half*>(host.data()), bucket.count));
    case FloatType::bf16:
      return average_widened(std::span(reinterpret_cast<BFloat16*>(host.data()), bucket.count));
  }
}

template <typename T>
void StagedReducer::average_widened(std::span<T> values) {
  widened_.resize(values.size());
  widen(values, widened_);
  average(widened_);
  narrow(widened_, values);
}

void StagedReducer::average(std::span<float> values) {
  host_->reduce({values.data(), values.size()}, nullptr);
  host_->wait();
}

}  // namespace chexbench::comm
