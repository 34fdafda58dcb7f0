#include "output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "core/errors.hpp"

namespace chexbench::app {

void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // open() returns the lowest free number, which is this stream's. Standard output is opened read-only, because
    // results that go nowhere must be an error.
    open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw OutputError("cannot write to standard output");
  }
}

}  // namespace chexbench::app
