#include "core/launcher_terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace chexbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNobody = "0";  // the parent of the first process
constexpr std::string_view kLauncher = "mpiexec.hydra";
constexpr std::string_view kHelpers = "hydra_";  // hydra_pmi_proxy; with Intel MPI also hydra_bstrap_proxy above it

// Returns what the link points to, or "" where it cannot be read.
std::string target_of(const fs::path& link) {
  std::error_code error;
  return fs::read_symlink(link, error).string();
}

std::string program_of(const fs::path& process) { return fs::path(target_of(process / "exe")).filename().string(); }

// Returns the text of a file, or "" where it cannot be read.
std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Returns the number of the process's parent, or kNobody.
std::string parent_of(const fs::path& process) {
  const std::string stat = text_of(process / "stat");
  const std::size_t name_end = stat.rfind(')');  // the name may have blanks and parentheses
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

// Returns whether mpirun was told to do anything with output but to write it, as the options say or may say.
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
  std::string id = parent_of(root / process);
  // A shell may stand between the rank and the proxy, but nothing between the proxy and mpirun.
  while (id != kNobody && !program_of(root / id).starts_with(kHelpers)) id = parent_of(root / id);
  if (id == kNobody || !holds(root / id, pipe)) return std::nullopt;
  while (program_of(root / id).starts_with(kHelpers)) id = parent_of(root / id);
  if (program_of(root / id) != kLauncher || changes_output(root / id, stream)) return std::nullopt;
  return root / id / file;
}

int open_launchers_terminal(int stream) {
  const std::optional<std::string> path = launchers_stream(stream);
  if (!path) return -1;
  // Without waiting, as it may be a pipe that nobody reads any more.
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
