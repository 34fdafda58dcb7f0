// The end of all ranks by a process that can do nothing else any more.
#pragma once

namespace chexbench::bench {

// As comm::abort_ranks(), for the launcher that started this process: the ranks that wait for it end with `exit_code`.
// Allocates no memory. Does nothing if the process was started alone.
void abort_ranks(int exit_code);

}  // namespace chexbench::bench
