// What is told when a library ends the process.
#pragma once

#include <string>

namespace chexbench {

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
