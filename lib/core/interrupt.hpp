// Turns SIGINT, SIGTERM, SIGHUP and the warnings of batch systems (SIGXCPU, SIGUSR1, SIGUSR2) into a flag that long
// loops check, so that a run ends in order and keeps its results.
#pragma once

namespace chexbench {

// Installs the signal handlers of the process. These signals then set the flag; all but SIGINT and SIGTERM stay ignored
// if they already are (nohup). A SIGINT more than a second after the first signal ends the process at once, with exit
// code 130. SIGXFSZ and SIGPIPE are ignored, so that write() fails instead.
void install_interrupt_handlers();

// Returns true once such a signal has arrived. Thread-safe.
bool interrupt_requested();

// Thread-safe.
// @throws InterruptedError once a signal has arrived (code 130 for SIGINT, 143 for the others)
void throw_if_interrupted();

}  // namespace chexbench
