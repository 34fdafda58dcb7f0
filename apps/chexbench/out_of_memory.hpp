// The end of a process that has no memory left even to report that.
#pragma once

namespace chexbench::app {

// The message for a std::bad_alloc.
inline constexpr const char* kOutOfMemory =
    "out of memory: lower training.batch_size, the pipeline's buffers or parallel_calls (--dry-run forecasts what they "
    "take), or raise `ulimit -v`";

// After this call, a std::bad_alloc that nothing can catch (in a destructor, or while an error is reported) ends the
// process with that message and ExitCode::device, like any other; so does an exception of unknown type. Files written
// so far are kept, as after a kill.
void install_out_of_memory_handler();

}  // namespace chexbench::app
