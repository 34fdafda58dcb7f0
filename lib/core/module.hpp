// Loads modules: shared libraries of chexbench that wrap libraries which few runs need (CUDA, NCCL, oneDNN). The
// program starts even on machines without those libraries. If a library ends the process, the message names it.
#pragma once

#include <string>

namespace chexbench {

// Returns the path of the program, also in a container or chroot without /proc. Thread-safe.
std::string program_path(const std::string& proc = "/proc");

// Loads the shared library `file` and its dependencies: from the loader's search path or, if one is not there, from
// NVIDIA's packages that pip installed together with the program. It stays loaded. Returns the handle of dlopen(), or
// null with the loader's message in `reason`. Thread-safe.
void* open_library(const std::string& file, std::string& reason);

// Loads the module `file` and returns the address of its function or variable `symbol` (never null). The module is
// looked for next to the executable (build tree), then in ../lib/chexbench (installation), and stays loaded. `owner`
// names its user in errors, e.g. "engine 'cuda'". Thread-safe.
// @throws DeviceError if the module is missing, cannot be loaded, or lacks the symbol, e.g. one from another build
void* module_symbol(const std::string& owner, const char* file, const char* symbol);

// After this call, a library's exit(1) prints the message and becomes ExitCode::device: libgomp exits so if it gets no
// thread, MPICH if it gets no memory. The library's own message comes first. Call it once.
void watch_library_exits();

// While one of these exists (at most one at a time), `message` is printed instead, for any exit status of the library.
class LibraryExitMessage {
 public:
  explicit LibraryExitMessage(std::string message);
  ~LibraryExitMessage();
  LibraryExitMessage(const LibraryExitMessage&) = delete;
  LibraryExitMessage& operator=(const LibraryExitMessage&) = delete;

 private:
  const std::string line_;
};

// Marks any later exit as the program's own. Thread-safe.
void exit_is_own();

}  // namespace chexbench
