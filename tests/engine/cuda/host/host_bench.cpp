// Implements on the host the functions that only benches of single kernels need. Its times are those of this twin, so
// they are meaningless, as the device's name indicates.
#include <cstring>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/cuda/host/host_stream.hpp"
#include "engine/cuda/runtime/device.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {
namespace {

double& time_s(void* point) { return *static_cast<double*>(point); }

}  // namespace

DeviceIdentity current_device() {
  DeviceIdentity device = visible_devices().front();
  device.name = "host twin, whose times mean nothing";
  device.cache_bytes = 4096;
  return device;
}

void check_device() {}

void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
  host::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}

void copy_rows_to_host(void* to, const void* from, const RowBytes& rows, Stream stream) {
  host::enqueue(stream, [=] {
    for (std::size_t row = 0; row < rows.rows; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * rows.row_bytes,
                  static_cast<const std::byte*>(from) + row * rows.pitch_bytes, rows.row_bytes);
    }
  });
}

DeviceTimer::DeviceTimer() : begin_(new double), end_(new double) {}
DeviceTimer::~DeviceTimer() {
  delete static_cast<double*>(begin_);
  delete static_cast<double*>(end_);
}
void DeviceTimer::begin() { time_s(begin_) = now_s(); }
void DeviceTimer::end() { time_s(end_) = now_s(); }
double DeviceTimer::elapsed_s() const { return time_s(end_) - time_s(begin_); }

}  // namespace chexbench::engine::cuda
