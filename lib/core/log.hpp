// Logs messages to stderr, formatted by fmt. Results are not logged: they go to stdout.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace chexbench::log {

enum class Level { debug, info, warning, error, off };

// Sets the least severe level to write, and the rank in each line (none if negative). Thread-safe. Before the first
// call the level is `info` and no rank is shown.
void configure(Level level, int rank = -1);

// Writes "[HH:MM:SS] LEVEL: MESSAGE" to stderr if `level` is severe enough, through printable_lines(). Thread-safe.
void write(Level level, std::string_view message);

// Format a message as fmt::format does and write it at the level of their name, e.g. log::info("{} images", count).
template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}

// For messages that would repeat on every rank and in every trial: writes nothing if this process has written the same
// message before, or is not rank 0. Thread-safe.
void write_once(Level level, const std::string& message);

template <typename... Args>
void info_once(fmt::format_string<Args...> format, Args&&... args) {
  write_once(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning_once(fmt::format_string<Args...> format, Args&&... args) {
  write_once(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace chexbench::log
