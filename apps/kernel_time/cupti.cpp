// Record kinds and flags are documented in cupti_activity.h and in the CUPTI documentation, "Activity API".
#include "kernel_time/cupti.hpp"

#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>

#include "core/errors.hpp"

namespace chexbench::measure {
namespace {

constexpr std::size_t kBufferBytes = 4 << 20;  // about 20,000 kernels: 30 steps of 700

struct Functions {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
};

// These are global because CUPTI's callbacks take no user argument.
Functions cupti;
OperationListener* listener = nullptr;
std::mutex listener_mutex;

template <class Function>
void find(void* library, const char* file, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr)
    throw DeviceError(fmt::format("{} lacks {}: it is not CUPTI, or it is too old", file, symbol));
}

Functions open_library(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);  // never closed, because its threads keep running
  if (library == nullptr) {
    throw DeviceError(fmt::format("CUPTI cannot be opened: {}; put its folder into LD_LIBRARY_PATH", dlerror()));
  }
  Functions found;
  find(library, file, "cuptiActivityRegisterCallbacks", found.register_callbacks);
  find(library, file, "cuptiActivityEnable", found.enable);
  find(library, file, "cuptiActivityGetNextRecord", found.next_record);
  find(library, file, "cuptiActivityGetNumDroppedRecords", found.dropped_records);
  find(library, file, "cuptiActivityFlushAll", found.flush_all);
  find(library, file, "cuptiGetResultString", found.result_string);
  return found;
}

void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* words = nullptr;
  if (cupti.result_string(result, &words) != CUPTI_SUCCESS || words == nullptr) words = "error";
  throw DeviceError(fmt::format("CUPTI: {}: {} (status {})", what, words, static_cast<int>(result)));
}

// If there is no memory, CUPTI drops records and counts them.
void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;  // as many as fit
}

// Later versions of these record types only add members at the end.
void tell(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
    listener->kernel(kernel.name != nullptr ? kernel.name : "", kernel.start, kernel.end);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    listener->copy(copy.start, copy.end);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto& memset = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
    listener->memset(memset.start, memset.end);
  }
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*bytes*/,
                          std::size_t valid_bytes) {
  const std::lock_guard lock(listener_mutex);
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 && cupti.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) tell(*record);
  std::size_t dropped = 0;
  if (cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) listener->lose(dropped);
  std::free(buffer);
}

}  // namespace

void start_cupti(const char* file, OperationListener& to) {
  cupti = open_library(file);
  listener = &to;
  check(cupti.register_callbacks(give_buffer, take_buffer), "its buffers");
  // KERNEL would prevent kernels from overlapping. GRAPH_TRACE would record a graph as a whole instead of its
  // kernels.
  check(cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "records of kernels");
  check(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY), "records of copies");
  check(cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET), "records of memsets");
}

void flush_cupti() { check(cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "its last records"); }

}  // namespace chexbench::measure
