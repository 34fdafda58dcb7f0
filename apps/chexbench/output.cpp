#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "core/terminal.hpp"
#include "output.hpp"
#include "report/text_table.hpp"

namespace chexbench::app {

void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // open() returns the lowest free number, which is this stream's. Standard output is opened read-only, because lost
    // results must be an error.
    open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void print(const std::string& text, const std::string& format) {
  if (format == "table") return print_shown(report::fitted_lines(printable_lines(text), stdout_width()));
  print_shown(stdout_is_terminal() ? printable_lines(text) : text);
}

void print_shown(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) throw ReaderGone();  // SIGPIPE is ignored, because stores' sockets also raise it
    throw OutputError("cannot write to standard output");
  }
}

// Open MPI's mpirun reads a rank's output through a pseudoterminal, even if its own output is redirected.
bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1 && std::getenv("OMPI_COMM_WORLD_RANK") == nullptr; }

std::size_t stdout_width() {
  static const int terminal =
      stdout_is_terminal() ? STDOUT_FILENO : (isatty(STDOUT_FILENO) == 1 ? -1 : open_launchers_terminal(STDOUT_FILENO));
  return terminal_width(terminal).value_or(kWidestLine);
}

std::string make_results_folder(const std::string& name, std::string date_utc) {
  std::ranges::replace(date_utc, ':', '-');
  return make_new_folder((std::filesystem::path("results") / name / std::move(date_utc)).string());
}

}  // namespace chexbench::app
