// The exception of a verb whose output has lost its reader.
#pragma once

#include "core/errors.hpp"

namespace chexbench::app {

// The exit code that shells report for a program ended by SIGPIPE: 128 + 13.
inline constexpr int kReaderGoneExitCode = 141;

// The reader closed standard output, like `head`. Nobody needs the rest, so the process ends without a message, with
// kReaderGoneExitCode.
struct ReaderGone : OutputError {
  ReaderGone() : OutputError("standard output is a pipe that nobody reads") {}
};

}  // namespace chexbench::app
