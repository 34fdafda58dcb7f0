#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/printable.hpp"

namespace chexbench {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  constexpr std::size_t kWhole = std::string::npos;
  if (printable(word, kWhole) != word) {
    std::string escaped;
    for (const char c : word) escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return "$'" + printable(escaped, kWhole) + "'";
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string duration_text(double seconds) {
  constexpr double kMinutesFrom_s = 100;  // one minute is too coarse a unit below
  constexpr double kLongest_s = 1e9;
  const double shown_s = std::clamp(seconds, 0.0, kLongest_s);
  if (shown_s < kMinutesFrom_s) return fmt::format("{:.0f} s", shown_s);
  const auto minutes = std::lround(shown_s / 60);
  return minutes < 60 ? fmt::format("{} min", minutes) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string time_left_text(double seconds, std::string_view bound) {
  constexpr double kShortest_s = 0.5;  // 0 s in whole numbers
  if (seconds < kShortest_s) return "nearly done";
  return fmt::format("{}{}{} left", bound, bound.empty() ? "" : " ", duration_text(seconds));
}

std::string bytes_text(double bytes) {
  if (bytes < 999.5e3) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 999.5e6) return fmt::format("{:.0f} MB", bytes / 1e6);
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string rate_text(double per_s) {
  if (per_s < 99.95) return fmt::format("{:.{}f}", per_s, per_s < 9.995 ? 2 : 1);
  return grouped(fmt::format("{:.0f}", per_s));
}

std::string grouped(std::string digits) {
  for (std::size_t at = digits.size(); at > 3; digits.insert(at, 1, ',')) at -= 3;
  return digits;
}

std::string grouped(std::uint64_t count) { return grouped(fmt::to_string(count)); }

std::string count_text(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", grouped(count), one, count == 1 ? "" : "s");
}

std::string sentence_of(std::string clause) {
  if (clause.empty()) return clause;
  clause.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(clause.front())));
  return clause.back() == '.' ? clause : clause + '.';
}

}  // namespace chexbench
