// The end of a process that has no memory left even to report that.
#pragma once

namespace chexbench::app {

// What is told of a std::bad_alloc.
inline constexpr const char* kOutOfMemory =
    "out of memory: lower training.batch_size, the pipeline's buffers or parallel_calls (--dry-run forecasts what they "
    "take), or raise `ulimit -v`";

// From now on a std::bad_alloc that nothing can catch (in a destructor, or while an error is reported) ends the process
// with that message and ExitCode::device, as any other does; so does an exception whose type cannot be known there.
// What has been written by then is kept, as after a kill.
void install_out_of_memory_handler();

}  // namespace chexbench::app
