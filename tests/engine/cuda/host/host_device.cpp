// Implements device.hpp and stream.hpp on the host.
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/cuda/host/host_stream.hpp"
#include "engine/cuda/kernels/launch_check.hpp"
#include "engine/cuda/runtime/device.hpp"
#include "engine/cuda/runtime/stream.hpp"

struct CUstream_st {};

namespace chexbench::engine::cuda {
namespace host {
namespace {

// The graph that is being captured, or null.
std::vector<Work>* capture = nullptr;

struct HostEvent {
  std::optional<double> passed_s;
};

HostEvent& event(void* handle) { return *static_cast<HostEvent*>(handle); }

}  // namespace

void enqueue(kernels::Stream, Work work) {
  if (capture != nullptr) {
    capture->push_back(std::move(work));
  } else {
    work();
  }
}

Launches& launches() {
  static Launches counts;
  return counts;
}

bool& only_counts_launches() {
  static bool only = false;
  return only;
}

void launch_kernel(kernels::Stream stream, Work work) {
  ++launches().kernels;
  if (!only_counts_launches()) enqueue(stream, std::move(work));
}

void launch_plan(kernels::Stream stream, Work work) {
  ++launches().plans;
  if (!only_counts_launches()) enqueue(stream, std::move(work));
}

bool is_capturing() { return capture != nullptr; }

}  // namespace host

void require_device() {}

std::vector<DeviceIdentity> visible_devices() {
  return {{.name = "host twin",
           .uuid = "GPU-host-twin",
           .pci_bus_id = "",
           .compute_capability = 90,
           .multiprocessors = 3,
           .memory_bytes = std::size_t{8} << 30}};
}

DeviceIdentity select_device(int index) {
  if (index != 0) throw DeviceError("the host twin of a device is one");
  return visible_devices().front();
}

std::size_t free_device_bytes() { return std::size_t{8} << 30; }
PinnedAllocator& pinned_allocator() { return host_allocator(); }

// Fills new memory with NaN, because device memory may start with any content.
DeviceMemory::DeviceMemory(std::size_t bytes) : memory_(host_allocator().allocate(bytes)), bytes_(bytes) { fill(0xff); }
void DeviceMemory::Release::operator()(void* memory) const {
  host_allocator().deallocate(static_cast<std::byte*>(memory), 0);
}
void DeviceMemory::fill(int byte) { std::memset(data(), byte, bytes_); }

OwnedStream::OwnedStream() : stream_(new CUstream_st) {}
OwnedStream::~OwnedStream() { delete stream_; }

Event::Event() : event_(new host::HostEvent) {}
Event::~Event() { delete static_cast<host::HostEvent*>(event_); }
void Event::record(Stream) {}
void Event::mark(Stream stream) {
  host::enqueue(stream, [event = event_] { host::event(event).passed_s = now_s(); });
}
bool Event::done() const { return true; }

double elapsed_s(const Event& from, const Event& to) {
  const auto &begin = host::event(from.handle()).passed_s, &end = host::event(to.handle()).passed_s;
  if (!begin || !end) throw DeviceError("host twin: an event was never marked");
  if (*end < *begin) throw DeviceError("host twin: a time that a device may not tell, as it is negative");
  return *end - *begin;
}

void wait_for(Stream, const Event&) {}
void synchronize(Stream) {}

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes > 0) host::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes > 0) host::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
void clear(void* memory, std::size_t bytes, Stream stream) {
  if (bytes > 0) host::enqueue(stream, [=] { std::memset(memory, 0, bytes); });
}

Graph Graph::capture(Stream, const std::function<void()>& queue) {
  auto work = std::make_unique<std::vector<host::Work>>();
  host::capture = work.get();
  queue();
  host::capture = nullptr;
  Graph graph;
  graph.executable_ = work.release();
  return graph;
}

Graph::Graph(Graph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(executable_, other.executable_);
  return *this;
}
Graph::~Graph() { delete static_cast<std::vector<host::Work>*>(executable_); }

void Graph::launch(Stream) const {
  for (const host::Work& work : *static_cast<const std::vector<host::Work>*>(executable_)) work();
}

}  // namespace chexbench::engine::cuda

namespace chexbench::engine::cuda::kernels {

void check_cuda(int error, const char* what) {
  if (error != 0) throw DeviceError(std::string("host twin: ") + what);
}
void check_launch(const char*) {}
int multiprocessors() { return visible_devices().front().multiprocessors; }

}  // namespace chexbench::engine::cuda::kernels
