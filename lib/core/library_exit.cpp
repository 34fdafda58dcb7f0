#include "core/library_exit.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/errors.hpp"

namespace chexbench {
namespace {

std::atomic<bool> is_own = false;
std::atomic<const std::string*> expected = nullptr;

// Allocates nothing, as there may be no memory.
void on_library_exit(int status, void*) {
  const std::string* const line = expected;
  if ((status != EXIT_FAILURE && line == nullptr) || is_own) return;
  constexpr std::string_view kMessage =
      "error: a library ended the process; its message, if any, is above. As a rule it got no memory or no thread: "
      "lower training.batch_size, the pipeline's parallel_calls or the number of ranks, or raise `ulimit -v` or "
      "`ulimit -u`\n";
  std::fflush(nullptr);
  const std::string_view said = line != nullptr ? std::string_view(*line) : kMessage;
  static_cast<void>(!::write(STDERR_FILENO, said.data(), said.size()));
  ::_exit(static_cast<int>(ExitCode::device));
}

}  // namespace

void watch_library_exits() { ::on_exit(on_library_exit, nullptr); }

LibraryExitMessage::LibraryExitMessage(std::string message) : line_("error: " + std::move(message) + "\n") {
  expected = &line_;
}

LibraryExitMessage::~LibraryExitMessage() { expected = nullptr; }

void exit_is_own() { is_own = true; }

}  // namespace chexbench
