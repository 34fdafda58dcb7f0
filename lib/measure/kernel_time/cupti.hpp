// NVIDIA's CUPTI, opened at run time, as the source of what a GPU did.
#pragma once

#include <cstdint>
#include <string_view>

namespace chexbench::measure {

// Told of each operation when its record is handed out, a little after it ran. Times are CUPTI's, in ns. Called from
// whichever thread has a buffer full, never from two at once.
class OperationListener {
 public:
  virtual ~OperationListener() = default;
  virtual void kernel(std::string_view mangled_name, std::uint64_t begin_ns, std::uint64_t end_ns) = 0;
  virtual void copy(std::uint64_t begin_ns, std::uint64_t end_ns) = 0;
  virtual void memset(std::uint64_t begin_ns, std::uint64_t end_ns) = 0;
  virtual void lose(std::uint64_t records) = 0;
};

// Opens `file` and has it record every kernel, copy and memset of this process from now on, those inside CUDA graphs
// one by one. Once in a process; `listener` must live until its end.
// @throws DeviceError where the library is missing or refuses
void start_cupti(const char* file, OperationListener& listener);

// Hands the listener all records that are still on the way; the device must be done with its work.
// @throws DeviceError
void flush_cupti();

}  // namespace chexbench::measure
