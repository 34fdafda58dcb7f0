#include "comm/nccl_standin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace standin {
namespace {

struct Handle {
  std::string name;
  bool recorded = false;  // for events
  double at_ms = 0;
};

struct State {
  Script script;
  std::vector<std::string> calls;
  std::map<std::string, int> made;
  std::vector<std::unique_ptr<Handle>> handles;
  std::vector<std::function<void()>> captured;
  double now_ms = 5;
  cudaError_t last_error = cudaSuccess;
};

State& state() {
  static State the_state;
  return the_state;
}

std::mutex of_calls;  // aborts come from another thread

template <typename... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  const std::lock_guard lock(of_calls);
  state().calls.push_back(fmt::format(format, std::forward<Args>(args)...));
}

Handle* make(const std::string& kind) {
  const std::string name = kind + std::to_string(++state().made[kind]);
  return state().handles.emplace_back(std::make_unique<Handle>(Handle{.name = name})).get();
}

Handle& handle(const void* opaque) { return *static_cast<Handle*>(const_cast<void*>(opaque)); }

void record(Handle& event) {
  event.recorded = true;
  event.at_ms = state().now_ms;
}

void pass_time() { state().now_ms += 2; }

cudaError_t fail(cudaError_t error) { return state().last_error = error; }

}  // namespace

Script& script() { return state().script; }
std::vector<std::string>& calls() { return state().calls; }
void reset() { state() = State{}; }
cudaEvent_t make_event() { return reinterpret_cast<cudaEvent_t>(make("event")); }
std::string name(const void* opaque) { return opaque != nullptr ? handle(opaque).name : "null"; }
void replay() { replay_in_part(0, state().captured.size()); }
void replay_in_part(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) state().captured[i]();
}

}  // namespace standin

using namespace standin;

cudaError_t cudaSetDevice(int device) {
  note("cudaSetDevice {}", device);
  return script().set_device;
}
const char* cudaGetErrorString(cudaError_t) { return "no CUDA-capable device is detected"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorNoDevice"; }
cudaError_t cudaGetLastError() { return std::exchange(state().last_error, cudaSuccess); }
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  *stream = reinterpret_cast<cudaStream_t>(make("stream"));
  note("create {} flags={} priority={}", name(*stream), flags, priority);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  note("destroy {}", name(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = script().capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  note("{} waits for {}", name(stream), name(event));
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = make_event();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  note("record {} on {}", name(event), name(stream));
  if (!script().capturing) record(handle(event));
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  const bool external = flags == cudaEventRecordExternal;
  if (external != script().capturing) return fail(cudaErrorIllegalState);
  note("time {} on {}{}", name(event), name(stream), external ? " in every replay" : "");
  if (external) {
    state().captured.emplace_back([&recorded = handle(event)] { record(recorded); });
  } else {
    record(handle(event));
  }
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return script().busy_queries-- > 0 ? fail(cudaErrorNotReady) : cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  note("host waits for {}", name(event));
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  if (!handle(from).recorded || !handle(to).recorded) return fail(cudaErrorInvalidResourceHandle);
  *ms = static_cast<float>(handle(to).at_ms - handle(from).at_ms);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  note("pin {} bytes", bytes);
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  note("allocate {} bytes", bytes);
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  note("copy {} bytes {} on {}", bytes, kind == cudaMemcpyDeviceToHost ? "to the host" : "to the device", name(stream));
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  note("ncclGetUniqueId");
  for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; ++i) id->internal[i] = static_cast<char>('a' + i % 26);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  *comm = reinterpret_cast<ncclComm_t>(make("comm"));
  note("ncclCommInitRankConfig {} rank {} of {} blocking={} id={}", name(*comm), rank, ranks, config->blocking,
       std::string_view(id.internal, NCCL_UNIQUE_ID_BYTES));
  return ncclInProgress;
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* sub, ncclConfig_t*) {
  *sub = color != NCCL_SPLIT_NOCOLOR ? reinterpret_cast<ncclComm_t>(make("comm")) : nullptr;
  note("ncclCommSplit {} color={} key={} -> {}", name(comm), color, key, name(*sub));
  return ncclSuccess;
}
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  note("ncclAllReduce{} type={} op={} count={} {} {}", from == to ? "" : " out of place", static_cast<int>(type),
       static_cast<int>(op), count, name(comm), name(stream));
  if (script().capturing) {
    state().captured.emplace_back(pass_time);
  } else {
    pass_time();
  }
  return script().all_reduce;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = script().polls_in_progress-- > 0 ? ncclInProgress : script().async_error;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "remote process exited or there was a network error"; }
const char* ncclGetLastError(ncclComm_t) { return "connection closed by peer 10.0.0.7"; }
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  note("ncclCommAbort {}", name(comm));
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  note("ncclCommDestroy {}", name(comm));
  return ncclSuccess;
}
