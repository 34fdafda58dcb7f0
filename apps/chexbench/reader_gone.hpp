// What a verb throws when nobody reads its output any more.
#pragma once

#include "core/errors.hpp"

namespace chexbench::app {

// The exit code of a program that SIGPIPE ends, as shells report it: 128 + 13.
inline constexpr int kReaderGoneExitCode = 141;

// Whoever read standard output has stopped reading, as `head` does. Nobody waits for the rest, so it is no fault to
// tell: the process ends without a message, with kReaderGoneExitCode.
struct ReaderGone : OutputError {
  ReaderGone() : OutputError("standard output is a pipe that nobody reads") {}
};

}  // namespace chexbench::app
