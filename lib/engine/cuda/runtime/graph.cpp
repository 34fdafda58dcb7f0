#include "engine/cuda/runtime/graph.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "engine/cuda/kernels/launch_check.hpp"

namespace chexbench::engine::cuda {

using kernels::check_cuda;
namespace {

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
