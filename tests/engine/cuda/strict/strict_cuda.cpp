#include "strict_cuda.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "strict_state.hpp"

namespace strict {
namespace {

// Returns whether all of `nodes` come before one of `ends`.
bool reaches(const GraphBody& body, const std::vector<int>& ends, const std::vector<int>& nodes) {
  std::set<int> before;
  std::vector<int> left = ends;
  while (!left.empty()) {
    const int node = left.back();
    left.pop_back();
    if (!before.insert(node).second) continue;
    const std::vector<int>& after = body[static_cast<std::size_t>(node)].after;
    left.insert(left.end(), after.begin(), after.end());
  }
  return std::ranges::all_of(nodes, [&](int node) { return before.contains(node); });
}

}  // namespace

State& state() {
  static State the_state;
  return the_state;
}

cudaError_t make_something(const char* what, bool allocates) {
  if (const cudaError_t error = begin_call(); error != cudaSuccess) return error;
  if (current_device != kDevice)
    return refuse(cudaErrorInvalidDevice, std::string(what) + " on a device that is not this process's");
  return allocates && captures_here > 0 ? refuse(cudaErrorStreamCaptureUnsupported, std::string(what) + " in a capture")
                                        : cudaSuccess;
}

cudaError_t check_live(const void* handle, const char* what) {
  if (!state().destroyed.contains(handle)) return begin_call();
  return refuse(cudaErrorInvalidResourceHandle, std::string("a destroyed ") + what);
}

void reset(unsigned seed, bool in_order) {
  State& all = state();
  for (const auto& [memory, range] : all.ranges) std::free(const_cast<std::byte*>(memory));
  all.ranges.clear();
  all.destroyed.clear();
  all.graphs.clear();
  all.violations.clear();
  all.other_ranks_stall = false;
  all.scheduler = std::make_unique<Scheduler>(seed, in_order);
  all.null_stream = &all.scheduler->new_stream(0);
  current_device = 0;
  captures_here = 0;
  last_error = cudaSuccess;
}

Scheduler& scheduler() { return *state().scheduler; }
std::vector<std::string> violations() { return state().violations; }
void stall_other_ranks() { state().other_ranks_stall = true; }
bool other_ranks_stall() { return state().other_ranks_stall; }

cudaError_t refuse(cudaError_t error, const std::string& why) {
  state().violations.push_back(why);
  return fail(error);
}

cudaError_t enqueue(cudaStream_t stream, Work work, const std::function<bool()>& may_run) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = check_live(stream, "stream"); error != cudaSuccess) return error;
  if (current_device != kDevice) return refuse(cudaErrorInvalidDevice, "work of a thread with another device");
  state().scheduler->enqueue(stream_of(stream), std::move(work), may_run);
  return cudaSuccess;
}

}  // namespace strict

using namespace strict;

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  current_device = device;
  return begin_call();
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "strict stand-in");
  properties->major = 9;
  properties->multiProcessorCount = 3;
  properties->totalGlobalMem = kMemoryBytes;
  properties->l2CacheSize = 1 << 16;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 3;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int) {
  std::strncpy(id, "0000:17:00.0", static_cast<std::size_t>(bytes));
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = *total = kMemoryBytes;
  return begin_call();
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(state().mutex);
  scheduler().run_until([] { return scheduler().is_idle(); });
  return begin_call();
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "the stand-in refuses it";
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "a CUDA error";
}
cudaError_t cudaGetLastError() {
  if (scheduler().has_failed()) return cudaErrorIllegalAddress;  // sticky
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = make_something("a stream"); error != cudaSuccess) return error;
  if (flags != cudaStreamNonBlocking)
    return refuse(cudaErrorInvalidValue, "a stream that waits for the default stream");
  *stream = reinterpret_cast<cudaStream_t>(&scheduler().new_stream(priority));
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (stream_of(stream).capture) return refuse(cudaErrorStreamCaptureUnsupported, "destroyed a stream in its capture");
  state().destroyed.insert(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = check_live(stream, "stream"); error != cudaSuccess) return error;
  Stream& waited = stream_of(stream);
  if (waited.capture) return refuse(cudaErrorStreamCaptureUnsupported, "waited for a stream in its capture");
  if (!scheduler().run_until([&] { return scheduler().is_idle(waited); }) && !scheduler().has_failed())
    return refuse(cudaErrorLaunchTimeout, "waited for a stream that never ends");
  return begin_call();
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = stream_of(stream).capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return begin_call();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = make_something("an event"); error != cudaSuccess) return error;
  *event = reinterpret_cast<cudaEvent_t>(&scheduler().new_event());
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  state().destroyed.insert(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = check_live(event, "event"); error != cudaSuccess) return error;
  if (const cudaError_t error = check_live(stream, "stream"); error != cudaSuccess) return error;
  Stream& of = stream_of(stream);
  if (flags == cudaEventRecordExternal) {
    if (!of.capture) return refuse(cudaErrorIllegalState, "an external record outside of a capture");
    event_of(event).capture = nullptr;
    scheduler().record_external(of, event_of(event));
  } else {
    scheduler().record(of, event_of(event));
  }
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = check_live(event, "event"); error != cudaSuccess) return error;
  if (const cudaError_t error = check_live(stream, "stream"); error != cudaSuccess) return error;
  Stream& waiting = stream_of(stream);
  Event& awaited = event_of(event);
  if (awaited.capture) {
    if (awaited.capture->origin == nullptr)
      return refuse(cudaErrorCapturedEvent, "waited for an event of an old capture");
    if (waiting.capture && waiting.capture != awaited.capture)
      return refuse(cudaErrorStreamCaptureMerge, "one stream in two captures");
    waiting.capture = awaited.capture;
    waiting.capture->joined.insert(&waiting);
    waiting.after.insert(waiting.after.end(), awaited.after.begin(), awaited.after.end());
    return cudaSuccess;
  }
  if (waiting.capture)
    return refuse(cudaErrorStreamCaptureIsolation, "a capture waited for an event from outside of it");
  scheduler().enqueue(
      waiting, [] {}, [&awaited, version = awaited.recorded] { return awaited.completed >= version; });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (event_of(event).capture) return refuse(cudaErrorCapturedEvent, "asked for an event that was captured");
  scheduler().run_some();
  if (const cudaError_t error = check_live(event, "event"); error != cudaSuccess) return error;
  return event_of(event).completed < event_of(event).recorded ? fail(cudaErrorNotReady) : cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  Event& awaited = event_of(event);
  if (awaited.capture) return refuse(cudaErrorCapturedEvent, "waited for an event that was captured");
  if (!scheduler().run_until([&] { return awaited.completed >= awaited.recorded; }) && !scheduler().has_failed())
    return refuse(cudaErrorLaunchTimeout, "waited for an event that never comes");
  return begin_call();
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  const std::lock_guard lock(state().mutex);
  for (const cudaEvent_t event : {from, to}) {
    if (event_of(event).recorded == 0) return fail(cudaErrorInvalidResourceHandle);
    if (event_of(event).completed < event_of(event).recorded) return fail(cudaErrorNotReady);
  }
  *ms = static_cast<float>(event_of(to).at_ms - event_of(from).at_ms);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = check_live(stream, "stream"); error != cudaSuccess) return error;
  if (stream == nullptr) return refuse(cudaErrorStreamCaptureUnsupported, "a capture of the default stream");
  if (mode != cudaStreamCaptureModeThreadLocal)
    return refuse(cudaErrorInvalidValue, "a capture that forbids other threads to pin memory");
  Stream& origin = stream_of(stream);
  if (origin.capture) return refuse(cudaErrorIllegalState, "a capture in a capture");
  origin.capture = std::make_shared<Capture>(Capture{.origin = &origin});
  origin.after.clear();
  ++captures_here;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(state().mutex);
  Stream& origin = stream_of(stream);
  *graph = nullptr;
  if (!origin.capture || origin.capture->origin != &origin)
    return refuse(cudaErrorIllegalState, "the end of a capture that did not begin there");
  --captures_here;
  const std::shared_ptr<Capture> capture = origin.capture;
  const std::vector<int> ends = origin.after;
  bool joined = true;
  for (Stream* const other : capture->joined) {
    joined = joined && reaches(capture->body, ends, other->after);
    other->capture = nullptr;
    other->after.clear();
  }
  origin.capture = nullptr;
  origin.after.clear();
  capture->origin = nullptr;
  if (!joined) return refuse(cudaErrorStreamCaptureUnjoined, "a capture left a stream that it did not join again");
  state().graphs.push_back(std::make_shared<GraphBody>(std::move(capture->body)));
  *graph = reinterpret_cast<cudaGraph_t>(&state().graphs.back());
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  if (flags != cudaGraphInstantiateFlagUseNodePriority)
    return refuse(cudaErrorInvalidValue, "a graph whose nodes lose the priority of their streams");
  *executable = reinterpret_cast<cudaGraphExec_t>(
      new std::shared_ptr<const GraphBody>(*reinterpret_cast<std::shared_ptr<GraphBody>*>(graph)));
  return begin_call();
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete reinterpret_cast<std::shared_ptr<const GraphBody>*>(executable);
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return begin_call(); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (const cudaError_t error = check_live(stream, "stream"); error != cudaSuccess) return error;
  if (stream_of(stream).capture) return refuse(cudaErrorStreamCaptureUnsupported, "a launch of a graph in a capture");
  scheduler().launch(stream_of(stream), *reinterpret_cast<std::shared_ptr<const GraphBody>*>(executable));
  return cudaSuccess;
}
