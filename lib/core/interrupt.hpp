// SIGINT, SIGTERM and SIGHUP, turned into a flag that long loops look at.
#pragma once

namespace chexbench {

// From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored: nohup) set the flag; a SIGINT that comes over a second
// after the first signal ends the process at once. SIGXFSZ and SIGPIPE are ignored.
void install_interrupt_handlers();

// True once a signal came. Async-signal-safe to set, thread-safe to read.
bool interrupt_requested();

// @throws InterruptedError (130 for SIGINT, 143 for SIGTERM and SIGHUP) once a signal came
void throw_if_interrupted();

}  // namespace chexbench
