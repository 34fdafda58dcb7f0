#include "comm/device_copies.hpp"
#include "core/module.hpp"

namespace chexbench::comm {

std::unique_ptr<DeviceCopies> make_device_copies(int gpu) {
  auto* const make = reinterpret_cast<DeviceCopies* (*)(int)>(
      module_symbol("comm.backend 'mpi' of GPUs", "libchexbench_copies.so", "chexbench_make_device_copies"));
  return std::unique_ptr<DeviceCopies>(make(gpu));
}

}  // namespace chexbench::comm
