// A fake GPU: its memory is the host's, and its events are flags.
#pragma once

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "comm/device_copies.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {

using HostEvent = std::atomic<bool>;  // true once the GPU has reached the event

class HostCopies final : public DeviceCopies {
 public:
  // Appends a letter to `log` for each wait (w), copy to the host (h) and copy to the device (d).
  explicit HostCopies(std::string* log = nullptr) : log_(log) {}

  std::span<std::byte> host_buffer(std::size_t bytes) override {
    buffer_.resize(bytes);
    return buffer_;
  }
  void wait(ReadyEvent ready) override {
    if (ready == lost()) throw DeviceError("the GPU is lost");
    static_cast<HostEvent*>(ready)->wait(false);
    note('w');
  }
  void to_host(const void* device, std::span<std::byte> host) override {
    note('h');
    std::memcpy(host.data(), device, host.size());
  }
  void to_device(std::span<const std::byte> host, void* device) override {
    note('d');
    std::memcpy(device, host.data(), host.size());
  }
  void* device_buffer(std::size_t bytes) override {
    device_.resize(bytes);
    return device_.data();
  }
  ReadyEvent copied() override {
    copied_ = true;
    return &copied_;
  }

  // Returns an event at which wait() fails as if the GPU were lost.
  static ReadyEvent lost() {
    static HostEvent event;
    return &event;
  }

 private:
  void note(char letter) {
    if (log_ != nullptr) *log_ += letter;
  }

  std::string* log_;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> device_;
  HostEvent copied_;
};

}  // namespace chexbench::comm
