// What is told when a library ends the process.
#pragma once

namespace chexbench {

// From now on, the message and ExitCode::device follow when a library calls exit(1), as libgomp does if it gets no
// thread, and MPICH if it gets no memory. The library's own message comes before. Is called once.
void watch_library_exits();

// Says that an exit from now on is the program's own. Thread-safe.
void exit_is_own();

}  // namespace chexbench
