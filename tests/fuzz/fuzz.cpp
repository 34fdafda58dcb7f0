#include "fuzz/fuzz.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chexbench::fuzz {
namespace {

constexpr std::size_t kLongestError = 8192;  // bytes: a message quotes a name of 1024, each of which is \xNN at worst

std::vector<Target>& registered() {
  static std::vector<Target> all;
  return all;
}

bool is_control(char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; }

}  // namespace

void require(bool holds, std::string_view rule) {
  if (!holds) throw Violation(std::string(rule));
}

void check_error(const Error& error, std::initializer_list<ExitCode> codes) {
  const std::string_view text = error.what();
  if (std::ranges::find(codes, error.code()) == codes.end()) {
    throw Violation(fmt::format("an error of code {} was not promised: {}", static_cast<int>(error.code()), text));
  }
  require(!text.empty(), "an error says nothing");
  if (text.size() >= kLongestError) throw Violation(fmt::format("an error has {} bytes", text.size()));
  const auto odd = std::ranges::find_if(text, is_control);
  if (odd != text.end()) {
    throw Violation(
        fmt::format("an error holds the control character {:#04x}: {:?}", static_cast<unsigned char>(*odd), text));
  }
}

unsigned Input::byte() {
  if (rest_.empty()) return 0;
  const auto value = std::to_integer<unsigned>(rest_.front());
  rest_ = rest_.subspan(1);
  return value;
}

std::string Input::line() {
  const std::size_t end = std::min(text().find('\n'), rest_.size());
  std::string line(text().substr(0, end));
  rest_ = rest_.subspan(std::min(end + 1, rest_.size()));
  return line;
}

Registration::Registration(const Target& target) { registered().push_back(target); }

const std::vector<Target>& targets() {
  static const bool sorted = (std::ranges::sort(registered(), {}, &Target::name), true);
  static_cast<void>(sorted);
  return registered();
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  return found == targets().end() ? nullptr : &*found;
}

}  // namespace chexbench::fuzz
