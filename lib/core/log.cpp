#include "core/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "core/printable.hpp"
#include "core/terminal.hpp"

namespace chexbench::log {
namespace {

constexpr const char* kName = "chexbench";
constexpr const char* kPattern = "[%H:%M:%S] %^%l%$: %v";

std::atomic<int> rank_shown = -1;

// Writes each message on a separate line, even while a progress line is shown. It is a sink because a module shares the
// program's sink but not the program's status line.
class OwnLineSink final : public spdlog::sinks::stderr_color_sink_mt {
 public:
  void log(const spdlog::details::log_msg& message) override {
    const auto lock = on_own_line();
    spdlog::sinks::stderr_color_sink_mt::log(message);
  }
};

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    // A module that is loaded at run time contains a second copy of this file, but shares the program's spdlog
    // registry: there it finds the program's logger.
    if (auto known = spdlog::get(kName)) return known;
    auto created = std::make_shared<spdlog::logger>(kName, std::make_shared<OwnLineSink>());
    spdlog::initialize_logger(created);
    created->set_pattern(kPattern);
    return created;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

// Returns the message in a form that is safe for a terminal. Lines after the first are indented, so that a line end in
// a name cannot fake another message.
std::string shown(std::string_view message) {
  std::string text = printable_lines(message);
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
    if (end + 1 < text.size()) text.insert(end + 1, "  ");
  }
  return text;
}

}  // namespace

void configure(Level level, int rank) {
  rank_shown = rank;
  logger().set_level(to_spdlog(level));
  logger().set_pattern(rank < 0 ? kPattern : fmt::format("[%H:%M:%S] %^%l%$: rank {}: %v", rank));
}

void write_once(Level level, const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> written;
  if (rank_shown > 0) return;
  const std::lock_guard lock(mutex);
  if (written.insert(message).second) write(level, message);
}

void write(Level level, std::string_view message) {
  if (logger().should_log(to_spdlog(level)))
    logger().log(to_spdlog(level), shown(without_credentials_in_message(message)));
}

}  // namespace chexbench::log
