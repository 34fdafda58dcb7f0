// Loads modules: shared libraries of chexbench that wrap libraries which few runs need (CUDA, NCCL, oneDNN). The
// program starts without them, even on a machine that lacks those libraries. A library that ends the process is named.
#pragma once

#include <string>

namespace chexbench {

// Returns the path of the program, also in a container or chroot without /proc. Thread-safe.
std::string program_path(const std::string& proc = "/proc");

// Loads the shared library `file`, with those that it needs: from where the loader looks or, if one is nowhere there,
// from NVIDIA's packages that pip installed beside the program. It stays loaded. Returns the handle of dlopen(), or
// null, and then sets `reason` to the loader's. Thread-safe.
void* open_library(const std::string& file, std::string& reason);

// Loads the module `file` and returns the address of its function or variable `symbol` (never null). The module is
// looked for beside the executable (build tree), then in ../lib/chexbench (installation), and stays loaded. `owner`
// names in errors who needs it, e.g. "engine 'cuda'". Thread-safe.
// @throws DeviceError if the module is missing, cannot be loaded, or has no such symbol, as one of another build
void* module_symbol(const std::string& owner, const char* file, const char* symbol);

// What is told when a library ends the process.

// From now on, the message and ExitCode::device follow when a library calls exit(1), as libgomp does if it gets no
// thread, and MPICH if it gets no memory. The library's own message comes before. Is called once.
void watch_library_exits();

// While one of these lives, which must be the only one, `message` follows instead, whatever status the library gives.
class LibraryExitMessage {
 public:
  explicit LibraryExitMessage(std::string message);
  ~LibraryExitMessage();
  LibraryExitMessage(const LibraryExitMessage&) = delete;
  LibraryExitMessage& operator=(const LibraryExitMessage&) = delete;

 private:
  const std::string line_;
};

// Says that an exit from now on is the program's own. Thread-safe.
void exit_is_own();

}  // namespace chexbench
