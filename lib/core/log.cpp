#include "core/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "core/credentials.hpp"

namespace chexbench::log {
namespace {

constexpr const char* kName = "chexbench";

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    // A module that is loaded at run time contains a second copy of this file, but shares the program's spdlog
    // registry: there it finds the logger that the program made.
    if (auto known = spdlog::get(kName)) return known;
    auto created = spdlog::stderr_color_mt(kName);
    created->set_pattern("[%H:%M:%S] %^%l%$: %v");
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

}  // namespace

void configure(Level level, int rank) {
  logger().set_level(to_spdlog(level));
  if (rank >= 0) logger().set_pattern(fmt::format("[%H:%M:%S] %^%l%$: rank {}: %v", rank));
}

void write(Level level, std::string_view message) {
  logger().log(to_spdlog(level), without_credentials_in_message(message));
}

}  // namespace chexbench::log
