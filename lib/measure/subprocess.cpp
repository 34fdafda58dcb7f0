#include "measure/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "core/clock.hpp"
#include "core/printable.hpp"

namespace chexbench::measure {
namespace {

constexpr std::size_t kMostBytes = 64u << 10;
constexpr double kNapS = 5e-3;
constexpr double kKilledS = 1;  // a process that waits for a dead server cannot be killed: it is abandoned

// A program in its own process group, and the reading end of its output.
struct Running {
  pid_t process = -1;
  int output = -1;
  int error = 0;  // an errno if it did not start
};

Running start(const std::vector<std::string>& command) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {.error = errno};
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  Running running{.output = ends[0]};
  running.error = posix_spawnp(&running.process, words.front(), &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  return running;
}

// Reads until the program closes its output. Returns false if it has not by the deadline.
bool read_all(int output, double deadline_s, std::string& text) {
  std::array<char, 4096> piece;
  for (;;) {
    const double left_s = deadline_s - now_s();
    if (left_s <= 0) return false;
    pollfd wanted{.fd = output, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, static_cast<int>(left_s * 1000) + 1) <= 0) continue;
    const ssize_t count = read(output, piece.data(), piece.size());
    if (count == 0) return true;
    if (count > 0) text.append(piece.data(), std::min<std::size_t>(count, kMostBytes - text.size()));
  }
}

// The result of waitpid() for a process.
struct Ending {
  int status = 0;
  int error = 0;  // an errno if the status is not known: ECHILD where SIGCHLD is ignored
};

// Returns how the process ended, if it did by the deadline.
std::optional<Ending> ended(pid_t process, double deadline_s) {
  Ending ending;
  for (;;) {
    const pid_t changed = waitpid(process, &ending.status, WNOHANG);
    if (changed == process) return ending;
    if (changed < 0 && errno != EINTR) return Ending{.error = errno};
    if (now_s() > deadline_s) return {};
    sleep_until_s(now_s() + kNapS);
  }
}

std::string failure(const std::string& name, int status, const std::string& output) {
  const std::string how = WIFEXITED(status) ? fmt::format("ends with {}", WEXITSTATUS(status))
                                            : fmt::format("dies of signal {}", WTERMSIG(status));
  const std::string said = printable(output.substr(0, output.find('\n')));
  return said.empty() ? fmt::format("{} {}", name, how) : fmt::format("{} {}: {}", name, how, said);
}

}  // namespace

ToolAnswer ask_tool(const std::vector<std::string>& command, double patience_s) {
  const std::string& name = command.front();
  const Running running = start(command);
  if (running.error != 0) {
    if (running.output >= 0) close(running.output);
    const bool is_missing = running.error == ENOENT;
    return {.is_missing = is_missing,
            .output = {},
            .problem = is_missing ? fmt::format("{} is not on PATH", name)
                                  : fmt::format("{} does not start: {}", name, std::strerror(running.error))};
  }
  ToolAnswer answer;
  const double deadline_s = now_s() + patience_s;
  const bool is_read = read_all(running.output, deadline_s, answer.output);
  close(running.output);
  const std::optional<Ending> ending = is_read ? ended(running.process, deadline_s) : std::nullopt;
  if (!ending) {
    kill(-running.process, SIGKILL);
    ended(running.process, now_s() + kKilledS);
    answer.problem = fmt::format("{} does not answer within {} s", name, patience_s);
  } else if (ending->error != 0) {
    answer.problem = fmt::format("how {} ended is not known: {}", name, std::strerror(ending->error));
  } else if (ending->status != 0) {
    answer.problem = failure(name, ending->status, answer.output);
  }
  if (!answer.problem.empty()) answer.output.clear();
  return answer;
}

}  // namespace chexbench::measure
