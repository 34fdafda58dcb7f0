#include "core/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/printable.hpp"

namespace chexbench {
namespace {

constexpr double kShowEvery_s = 0.1;
constexpr double kForwardEvery_s = 0.5;  // each time wakes two processes of mpirun
// The pause before other text on standard output, which mpirun reads from another pipe.
constexpr double kForwarded_s = 0.05;
constexpr const char* kClearLine = "\r\033[K";
constexpr std::size_t kMostBytes = 200;

// All status lines of the process are the same line of the same terminal.
std::mutex stderr_mutex;
bool line_is_shown = false;

// fmt::print would throw if stderr cannot be written, which must not end a run; fputs does not.
void put_on_stderr(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

bool is_dumb() {
  const char* const kind = std::getenv("TERM");
  return kind != nullptr && std::string_view(kind) == "dumb";
}

int open_forwarding_terminal() {
  return isatty(STDERR_FILENO) == 1 || is_dumb() ? -1 : open_launchers_terminal(STDERR_FILENO);
}

int forwarding_terminal() {
  static const int file = open_forwarding_terminal();
  return file;
}

bool is_forwarded() { return forwarding_terminal() >= 0; }

// Another rank with a forwarded stderr may be showing a line.
void clear_line() {
  if (line_is_shown || is_forwarded()) put_on_stderr(kClearLine);
  line_is_shown = false;
}

// Returns the bytes that fit into one line of the terminal: clearing a line that is wrapped would leave a part of it.
std::size_t most_bytes() {
  const auto width = terminal_width(is_forwarded() ? forwarding_terminal() : STDERR_FILENO);
  if (!width) return kMostBytes;
  constexpr std::size_t kDots = 3;  // appended to truncated text
  return std::min(kMostBytes, std::max(*width, kDots + 2) - kDots - 1);
}

}  // namespace

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

bool stderr_shows_status() { return (stderr_is_terminal() && !is_dumb()) || is_forwarded(); }

std::unique_lock<std::mutex> on_own_line() {
  std::unique_lock lock(stderr_mutex);
  clear_line();
  return lock;
}

void write_own_line(std::string_view text) {
  const auto lock = on_own_line();
  put_on_stderr(printable(text, kMostBytes) + '\n');
}

StatusLine::~StatusLine() {
  if (last_shown_s_ == 0) return;
  on_own_line().unlock();
  if (is_forwarded()) sleep_until_s(now_s() + kForwarded_s);
}

void StatusLine::show(std::string_view text) {
  if (!shown_) return;
  const std::lock_guard lock(stderr_mutex);
  if (now_s() - last_shown_s_ < (is_forwarded() ? kForwardEvery_s : kShowEvery_s)) return;
  last_shown_s_ = now_s();
  put_on_stderr(fmt::format("{}{}", kClearLine, printable(text, most_bytes())));
  line_is_shown = true;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kNobody = "0";  // the parent of the first process
constexpr std::string_view kLauncher = "mpiexec.hydra";
constexpr std::string_view kHelpers = "hydra_";  // hydra_pmi_proxy; with Intel MPI also hydra_bstrap_proxy above it

// Returns the target of the link, or "" if it cannot be read.
std::string target_of(const fs::path& link) {
  std::error_code error;
  return fs::read_symlink(link, error).string();
}

std::string program_of(const fs::path& process) { return fs::path(target_of(process / "exe")).filename().string(); }

// Returns the text of a file, or "" if it cannot be read.
std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Returns the number of the process's parent, or kNobody.
std::string parent_of(const fs::path& process) {
  const std::string stat = text_of(process / "stat");
  const std::size_t name_end = stat.rfind(')');  // the name may contain blanks and parentheses
  if (name_end == std::string::npos) return kNobody;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state, parent;
  fields >> state >> parent;
  return parent.empty() ? kNobody : parent;
}

bool holds(const fs::path& process, const std::string& pipe) {
  std::error_code error;
  for (fs::directory_iterator entry(process / "fd", error), end; !error && entry != end; entry.increment(error)) {
    if (target_of(entry->path()) == pipe) return true;
  }
  return false;
}

// Returns whether options make mpirun, or may make it, do more with output than write it.
bool changes_output(const fs::path& launcher, int stream) {
  const std::array<std::string_view, 5> options{"l", "prepend-rank", "prepend-pattern", "configfile",
                                                stream == STDOUT_FILENO ? "outfile-pattern" : "errfile-pattern"};
  std::istringstream words(text_of(launcher / "cmdline"));
  for (std::string word; std::getline(words, word, '\0');) {
    const std::size_t name = std::min(word.find_first_not_of('-'), word.size());
    const std::string option = word.substr(name, word.find('=') - name);
    if (name > 0 && std::ranges::find(options, option) != options.end()) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> launchers_stream(int stream, const std::string& proc, const std::string& process) {
  const fs::path root(proc);
  const std::string file = "fd/" + std::to_string(stream);
  const std::string pipe = target_of(root / process / file);
  if (!pipe.starts_with("pipe:")) return std::nullopt;
  bool is_forwarded = false;  // a helper above the process reads the pipe
  for (std::string id = parent_of(root / process); id != kNobody; id = parent_of(root / id)) {
    const std::string program = program_of(root / id);
    if (program.starts_with(kHelpers)) {
      is_forwarded = is_forwarded || holds(root / id, pipe);
      if (!is_forwarded) return std::nullopt;
    } else if (is_forwarded) {  // nothing comes between the helpers and mpirun
      const bool is_known = program == kLauncher && !changes_output(root / id, stream);
      return is_known ? std::optional(root / id / file) : std::nullopt;
    }  // else a shell between the rank and the proxy
  }
  return std::nullopt;
}

int open_launchers_terminal(int stream) {
  const std::optional<std::string> path = launchers_stream(stream);
  if (!path) return -1;
  // Non-blocking, because it may be a pipe without a reader.
  const int file = open(path->c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 || isatty(file) == 1) return file;
  close(file);
  return -1;
}

std::optional<std::size_t> terminal_width(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace chexbench
