#include "engine/cuda/runtime/stream.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "engine/cuda/kernels/launch_check.hpp"

namespace chexbench::engine::cuda {

using kernels::check_cuda;
namespace {

cudaEvent_t event_of(const void* handle) { return static_cast<cudaEvent_t>(const_cast<void*>(handle)); }

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

// Ends the capture, also if queueing threw, because a stream that is still capturing can do nothing else. If `what`
// is null, errors are ignored.
OwnedGraph end_capture(Stream stream, const char* what) {
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream, &graph);
  OwnedGraph owned(graph);
  if (what != nullptr) check_cuda(error, what);
  return owned;
}

OwnedGraph record(Stream stream, const std::function<void()>& queue) {
  // Thread-local, because decode threads may pin memory meanwhile, which a global capture would forbid.
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  try {
    queue();
  } catch (...) {
    end_capture(stream, nullptr);
    throw;
  }
  return end_capture(stream, "the capture of a step");
}

}  // namespace

// The stream has no order with the default stream, whose legacy rules forbid a capture.
OwnedStream::OwnedStream() {
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}

OwnedStream::~OwnedStream() { cudaStreamDestroy(stream_); }

Event::Event() {
  cudaEvent_t created = nullptr;
  check_cuda(cudaEventCreate(&created), "cudaEventCreate");
  event_ = created;
}

Event::~Event() { cudaEventDestroy(event_of(event_)); }

void Event::record(Stream stream) { check_cuda(cudaEventRecord(event_of(event_), stream), "cudaEventRecord"); }

void Event::mark(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  const unsigned flags = status == cudaStreamCaptureStatusActive ? cudaEventRecordExternal : cudaEventRecordDefault;
  check_cuda(cudaEventRecordWithFlags(event_of(event_), stream, flags), "cudaEventRecord");
}

bool Event::done() const {
  const cudaError_t error = cudaEventQuery(event_of(event_));
  if (error == cudaErrorNotReady) {
    cudaGetLastError();  // or the check of the next launch could report this state as its error
    return false;
  }
  check_cuda(error, "a kernel of the step");
  return true;
}

double elapsed_s(const Event& from, const Event& to) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, event_of(from.handle()), event_of(to.handle())),
             "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

void wait_for(Stream stream, const Event& event) {
  check_cuda(cudaStreamWaitEvent(stream, event_of(event.handle()), cudaEventWaitDefault), "cudaStreamWaitEvent");
}

void synchronize(Stream stream) { check_cuda(cudaStreamSynchronize(stream), "a kernel"); }

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes > 0) check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "a copy to the device");
}

void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes > 0) check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "a copy from the device");
}

void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes > 0) check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "a copy on the device");
}

void copy_rows_to_host(void* to, const void* from, const RowBytes& rows, Stream stream) {
  check_cuda(cudaMemcpy2DAsync(to, rows.row_bytes, from, rows.pitch_bytes, rows.row_bytes, rows.rows,
                               cudaMemcpyDeviceToHost, stream),
             "a copy from the device");
}

void clear(void* memory, std::size_t bytes, Stream stream) {
  if (bytes > 0) check_cuda(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
}

Graph Graph::capture(Stream stream, const std::function<void()>& queue) {
  const OwnedGraph recorded = record(stream, queue);
  cudaGraphExec_t executable = nullptr;
  // Without the flag, all nodes would run with the priority of the launching stream, and NCCL's kernels lose theirs.
  check_cuda(cudaGraphInstantiate(&executable, recorded.get(), cudaGraphInstantiateFlagUseNodePriority),
             "cudaGraphInstantiate");
  Graph graph;
  graph.executable_ = executable;
  check_cuda(cudaGraphUpload(executable, stream), "cudaGraphUpload");  // else the first launch would pay for it
  return graph;
}

Graph::Graph(Graph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}

Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(executable_, other.executable_);
  return *this;
}

Graph::~Graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
}

void Graph::launch(Stream stream) const {
  check_cuda(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), stream), "cudaGraphLaunch");
}

}  // namespace chexbench::engine::cuda
