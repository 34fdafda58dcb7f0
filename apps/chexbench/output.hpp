// Standard output, which gets only results; the log goes to standard error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace chexbench::app {

// Opens /dev/null for each standard stream that was closed when the process started. Otherwise the next file that is
// opened would get the number of that stream, and the log could go into a result file.
void fill_standard_streams();

// Writes `text` to standard output and flushes it. In text for people, which is `format` "table", and in everything
// that goes to a terminal, control characters are shown as \xNN, because names in it may come from anywhere. The lines
// of a table are no longer than the terminal is wide, if they can be broken.
// @throws ReaderGone if it is a pipe that nobody reads any more, or OutputError if writing fails, e.g. on a full disk
void print(const std::string& text, const std::string& format = "table");

// Does the same with text that a terminal may get as it is, because names in it are shown already and escape sequences
// in it are meant.
void print_shown(const std::string& text);

// Returns whether standard output is a terminal.
bool stdout_is_terminal();

// Returns how many characters a line has on the terminal that shows standard output, which may be that of mpirun
// (core/terminal.hpp); nothing if none does, or if it does not tell.
std::optional<std::size_t> stdout_width();

}  // namespace chexbench::app
