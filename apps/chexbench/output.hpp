// Standard output, which gets only results; the log goes to standard error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

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

// Returns the width in characters of the terminal that shows standard output, possibly mpirun's (core/terminal.hpp);
// nothing if there is none, or its width is unknown.
std::optional<std::size_t> stdout_width();

}  // namespace chexbench::app
