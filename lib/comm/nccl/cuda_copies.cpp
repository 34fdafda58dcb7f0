#include "comm/nccl/cuda_copies.hpp"

namespace chexbench::comm::nccl {
namespace {

// The thread that creates this object is not the one that uses it, and each thread has its own current device. So
// every function sets the device.
int current(int gpu) {
  check(cudaSetDevice(gpu), "cudaSetDevice");
  return gpu;
}

class CudaCopies final : public DeviceCopies {
 public:
  explicit CudaCopies(int gpu)
      : gpu_(current(gpu)), stream_(0), done_(cudaEventDisableTiming | cudaEventBlockingSync) {}
  ~CudaCopies() override {
    cudaFreeHost(buffer_);
    cudaFree(device_buffer_);
  }

  std::span<std::byte> host_buffer(std::size_t bytes) override;
  void wait(ReadyEvent ready) override;
  void to_host(const void* device, std::span<std::byte> host) override {
    copy(host.data(), device, host.size(), cudaMemcpyDeviceToHost);
  }
  void to_device(std::span<const std::byte> host, void* device) override {
    copy(device, host.data(), host.size(), cudaMemcpyHostToDevice);
  }
  void* device_buffer(std::size_t bytes) override;
  ReadyEvent copied() override { return done_.get(); }  // recorded after each copy

 private:
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
  // Sleeps until the stream is done. cudaStreamSynchronize would spin on a core that decoding needs.
  void finish();

  const int gpu_;
  Stream stream_;
  Event done_;
  void* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
  void* device_buffer_ = nullptr;
};

std::span<std::byte> CudaCopies::host_buffer(std::size_t bytes) {
  if (bytes > buffer_bytes_) {
    current(gpu_);
    cudaFreeHost(buffer_);
    buffer_ = nullptr;
    buffer_bytes_ = 0;
    check(cudaHostAlloc(&buffer_, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    buffer_bytes_ = bytes;
  }
  return {static_cast<std::byte*>(buffer_), bytes};
}

void* CudaCopies::device_buffer(std::size_t bytes) {
  current(gpu_);
  cudaFree(device_buffer_);
  device_buffer_ = nullptr;
  check(cudaMalloc(&device_buffer_, bytes), "cudaMalloc");
  return device_buffer_;
}

void CudaCopies::wait(ReadyEvent ready) {
  current(gpu_);
  check(cudaStreamWaitEvent(stream_.get(), static_cast<cudaEvent_t>(ready), 0), "cudaStreamWaitEvent");
  finish();
}

void CudaCopies::copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  current(gpu_);
  check(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "cudaMemcpyAsync");
  finish();
}

void CudaCopies::finish() {
  check(cudaEventRecord(done_.get(), stream_.get()), "cudaEventRecord");
  check(cudaEventSynchronize(done_.get()), "a copy of gradients");
}

}  // namespace

std::unique_ptr<DeviceCopies> make_cuda_copies(int gpu) { return std::make_unique<CudaCopies>(gpu); }

}  // namespace chexbench::comm::nccl
