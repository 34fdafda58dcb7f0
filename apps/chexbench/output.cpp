#include "output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "reader_gone.hpp"

namespace chexbench::app {

void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // open() returns the lowest free number, which is this stream's. Standard output is opened read-only, because
    // results that go nowhere must be an error.
    open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void print(const std::string& text, const std::string& format) {
  const bool is_shown = format == "table" || isatty(STDOUT_FILENO) == 1;
  const std::string written = is_shown ? printable_lines(text) : text;
  if (std::fwrite(written.data(), 1, written.size(), stdout) != written.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) throw ReaderGone();  // SIGPIPE is ignored, for the sockets of stores raise it as well
    throw OutputError("cannot write to standard output");
  }
}

}  // namespace chexbench::app
