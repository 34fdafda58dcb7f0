#include "bench/second_job/counters.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "core/errors.hpp"

namespace chexbench::bench {

// A new file is filled with zeros, the initial values of the counters.
SharedCounters::SharedCounters(int descriptor) {
  void* const memory = mmap(nullptr, sizeof(SecondJobCounters), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED)
    throw DeviceError(fmt::format("the second job's counters cannot be mapped: {}", std::strerror(errno)));
  counters_ = static_cast<SecondJobCounters*>(memory);
}

SharedCounters::~SharedCounters() { munmap(counters_, sizeof(SecondJobCounters)); }

}  // namespace chexbench::bench
