// CUDA loads this library if the environment variable CUDA_INJECTION64_PATH names it. It records the activity of the
// GPU through NVIDIA's CUPTI library, which it opens at run time. Environment variables control it:
//   CHEXBENCH_KERNEL_TIME_FILE   file to write when the process ends, as JSON (see README.md in this folder)
//   CHEXBENCH_KERNEL_TIME_STEP   part of the mangled name of a kernel that runs once per step, as its first
//   CHEXBENCH_KERNEL_TIME_SKIP   number of warm-up steps (default 0)
//   CHEXBENCH_CUPTI_LIBRARY      CUPTI's file (default: libcupti.so of the CUDA that this was built with)
// Record kinds and flags are documented in cupti_activity.h and in the CUPTI documentation, "Activity API".
#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <mutex>
#include <new>
#include <string>

#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "kernel_time/kernel_tally.hpp"

namespace chexbench::measure {
namespace {

constexpr std::size_t kBufferBytes = 4 << 20;  // about 20,000 kernels: 30 steps of 700

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// The functions of CUPTI. @throws DeviceError if the library or one of them is missing
struct Cupti {
  explicit Cupti(const std::string& file) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: its threads keep running
    if (library == nullptr)
      throw DeviceError(fmt::format("CUPTI cannot be opened: {}; put its folder into LD_LIBRARY_PATH", dlerror()));
    const auto find = [&]<class Function>(const char* symbol, Function*& function) {
      function = reinterpret_cast<Function*>(dlsym(library, symbol));
      if (function == nullptr)
        throw DeviceError(fmt::format("{} lacks {}: it is not CUPTI, or it is too old", file, symbol));
    };
    find("cuptiActivityRegisterCallbacks", register_callbacks);
    find("cuptiActivityEnable", enable);
    find("cuptiActivityGetNextRecord", next_record);
    find("cuptiActivityGetNumDroppedRecords", dropped_records);
    find("cuptiActivityFlushAll", flush_all);
    find("cuptiGetResultString", result_string);
  }

  void check(CUptiResult result, const char* what) const {
    if (result == CUPTI_SUCCESS) return;
    const char* words = nullptr;
    if (result_string(result, &words) != CUPTI_SUCCESS || words == nullptr) words = "error";
    throw DeviceError(fmt::format("CUPTI: {}: {} (status {})", what, words, static_cast<int>(result)));
  }

  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
};

// These are global because CUPTI's callbacks take no user argument. They are never destroyed, because a thread of CUPTI
// may deliver records until the process is gone.
struct State {
  const std::string file = setting("CHEXBENCH_KERNEL_TIME_FILE", "kernel-time.json");
  std::string problem;
  const Cupti* cupti = nullptr;
  std::mutex mutex;  // of `tally`: any thread that filled a buffer delivers it
  KernelTally tally{{.step_kernel = setting("CHEXBENCH_KERNEL_TIME_STEP", ""),
                     .skipped_steps = std::strtoull(setting("CHEXBENCH_KERNEL_TIME_SKIP", "0").c_str(), nullptr, 10)}};
};
State* state = nullptr;

// If there is no memory, CUPTI drops records and counts them.
void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;  // as many as fit
}

// Later versions of these record types only add members at the end.
void add(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
    state->tally.kernel(kernel.name != nullptr ? kernel.name : "", kernel.start, kernel.end);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    state->tally.copy(copy.start, copy.end);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto& memset = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
    state->tally.memset(memset.start, memset.end);
  }
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*bytes*/,
                          std::size_t valid_bytes) {
  const std::lock_guard lock(state->mutex);
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 && state->cupti->next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    try {
      add(*record);
    } catch (const std::bad_alloc&) {  // no exception may pass CUPTI, and the program must continue
      state->tally.lose(1);
    }
  }
  std::size_t dropped = 0;
  if (state->cupti->dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) state->tally.lose(dropped);
  std::free(buffer);
}

void start() {
  const auto* const cupti = new Cupti(setting("CHEXBENCH_CUPTI_LIBRARY", CHEXBENCH_CUPTI_FILE));
  state->cupti = cupti;
  cupti->check(cupti->register_callbacks(give_buffer, take_buffer), "its buffers");
  // KERNEL would prevent kernels from overlapping. GRAPH_TRACE would record a graph as a whole instead of its
  // kernels.
  cupti->check(cupti->enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "records of kernels");
  cupti->check(cupti->enable(CUPTI_ACTIVITY_KIND_MEMCPY), "records of copies");
  cupti->check(cupti->enable(CUPTI_ACTIVITY_KIND_MEMSET), "records of memsets");
}

// Calls run(), but lets no error reach the program under measurement, which must continue as if this library were
// absent. The file reports the error; stderr does if the file cannot be written.
template <class Run>
void keep_problem(const Run& run) {
  try {
    run();
  } catch (const std::exception& error) {
    state->problem = error.what();
  }
}

void finish() noexcept {
  if (state->problem.empty()) {
    keep_problem(
        [] { state->cupti->check(state->cupti->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "its last records"); });
  }
  try {
    const std::lock_guard lock(state->mutex);
    KernelTimes times = state->tally.times();
    if (!state->problem.empty()) times.problem = state->problem;
    write_file_atomically(state->file, to_json(times));
  } catch (const std::exception& error) {
    std::cerr << "kernel_time: " << error.what() << "\n";
  }
}

}  // namespace
}  // namespace chexbench::measure

// CUDA calls this function when it is initialized. It returns 1 for success.
extern "C" int InitializeInjection() {
  using namespace chexbench::measure;
  if (state != nullptr) return 1;
  state = new State;
  keep_problem(start);
  // CUPTI and CUDA have registered their exit handlers before this one. Handlers run in reverse order, so this one
  // runs first.
  std::atexit([] { finish(); });
  return 1;
}
