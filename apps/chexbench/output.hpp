// Where results go: standard output, which gets nothing else (the log goes to standard error), and a folder.
#pragma once

#include <cstddef>
#include <string>

#include "core/errors.hpp"

namespace chexbench::app {

// Opens /dev/null for each standard stream that was closed when the process started. Otherwise the next opened file
// would get the number of that stream, and the log could go into a result file.
void fill_standard_streams();

// Writes `text` to standard output and flushes it. In text for people (`format` "table") and in all output to a
// terminal, control characters are shown as \xNN, because names in it are not trusted. Table lines fit the width of the
// terminal if they can be broken.
// @throws ReaderGone if it is a pipe without a reader, or OutputError if writing fails, e.g. on a full disk
void print(const std::string& text, const std::string& format = "table");

// Does the same with text that is safe for a terminal: names in it are already escaped, and its escape sequences are
// intended.
void print_shown(const std::string& text);

// Returns whether standard output is a terminal.
bool stdout_is_terminal();

// The longest line of text for people if no terminal is narrower.
inline constexpr std::size_t kWidestLine = 100;

// Returns the width in characters of the terminal that shows standard output, possibly mpirun's (core/terminal.hpp);
// kWidestLine if there is none, or its width is unknown.
std::size_t stdout_width();

// The exit code that shells report for a program ended by SIGPIPE: 128 + 13.
inline constexpr int kReaderGoneExitCode = 141;

// The reader closed standard output, like `head`. Nobody needs the rest, so the process ends without a message, with
// kReaderGoneExitCode.
struct ReaderGone : OutputError {
  ReaderGone() : OutputError("standard output is a pipe that nobody reads") {}
};

// Makes a command's default folder for results, results/NAME/TIME for a time of measure::utc_now(), without colons,
// which are not allowed in other systems' file names and in arguments of rsync and scp, and returns it; or TIME-2 and
// so on, if others began in that second.
// @throws OutputError if it cannot be made
std::string make_results_folder(const std::string& name, std::string date_utc);

}  // namespace chexbench::app
