// Records the activity of a GPU through NVIDIA's CUPTI library, opened at run time.
#pragma once

#include <cstdint>
#include <string_view>

namespace chexbench::measure {

// Receives each operation when CUPTI delivers its record, shortly after the operation ran. Times are CUPTI's, in ns.
// Calls come from any thread that filled a buffer, but never from two threads at once. lose() reports records that
// CUPTI dropped.
class OperationListener {
 public:
  virtual ~OperationListener() = default;
  virtual void kernel(std::string_view mangled_name, std::uint64_t begin_ns, std::uint64_t end_ns) = 0;
  virtual void copy(std::uint64_t begin_ns, std::uint64_t end_ns) = 0;
  virtual void memset(std::uint64_t begin_ns, std::uint64_t end_ns) = 0;
  virtual void lose(std::uint64_t records) = 0;
};

// Opens the library `file` and starts recording every kernel, copy and memset of this process. Operations inside CUDA
// graphs are recorded one by one. Call it once per process; `listener` must live until the process ends.
// @throws DeviceError if the library is missing or refuses
void start_cupti(const char* file, OperationListener& listener);

// Delivers all outstanding records to the listener. The device must have finished its work.
// @throws DeviceError if CUPTI fails
void flush_cupti();

}  // namespace chexbench::measure
