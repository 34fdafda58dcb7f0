// Turns SIGINT, SIGTERM and SIGHUP into a flag that long loops check, so that a run ends in order and keeps its
// results.
#pragma once

namespace chexbench {

// Installs the signal handlers of the process. From then on SIGINT, SIGTERM and SIGHUP set the flag; SIGHUP stays
// ignored if it already is (nohup). A SIGINT that comes more than a second after the first signal ends the process at
// once, with exit code 130. SIGXFSZ and SIGPIPE are ignored, so that write() fails instead.
void install_interrupt_handlers();

// Returns true once such a signal has come. Thread-safe.
bool interrupt_requested();

// Thread-safe.
// @throws InterruptedError once a signal has come (code 130 for SIGINT, 143 for SIGTERM and SIGHUP)
void throw_if_interrupted();

}  // namespace chexbench
