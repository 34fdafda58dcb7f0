// The parts of every fuzz target. A target gives bytes from outside to one parser and checks the result against a rule:
// a round trip, the plain twin of the parser, or another library. Damage must end in an error of the promised kind,
// whose text fits a terminal. See README.md for running targets.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::fuzz {

using Bytes = std::span<const std::byte>;
using Buffer = std::vector<std::byte>;

// Thrown if a parser breaks a rule. No parser catches it, so that it ends the run of libFuzzer.
struct Violation : std::logic_error {
  using std::logic_error::logic_error;
};

// @throws Violation naming the rule if it does not hold
void require(bool holds, std::string_view rule);

// Checks the promises of every error: one of these exit codes, and a text of less than 4 KB without control characters.
// @throws Violation
void check_error(const Error& error, std::initializer_list<ExitCode> codes);

// Returns the result of parse(), or std::nullopt if it refuses the input with a promised error.
template <std::invocable Parse>
std::optional<std::invoke_result_t<Parse>> accepted(std::initializer_list<ExitCode> codes, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    check_error(error, codes);
    return std::nullopt;
  }
}

// Takes the choices of a target from the beginning of its input. The parser gets the rest.
class Input {
 public:
  explicit Input(Bytes bytes) : rest_(bytes) {}
  // Returns the next byte, or 0 at the end.
  unsigned byte();
  // Returns the text up to the next newline, which is removed, or the rest if there is none.
  std::string line();
  Bytes rest() const { return rest_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(rest_.data()), rest_.size()}; }

 private:
  Bytes rest_;
};

// Changes the bytes at random and leaves at most `most`: libFuzzer's mutations, or those of the replay.
using Scramble = std::function<void(Buffer& bytes, std::size_t most)>;

// A target's alternative to plain `scramble`, so that more inputs get deep into the parser: it scrambles the input or
// its compressed contents, and then repairs checksums. `seed` is a random number.
using Mutate = void (*)(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble);

struct Target {
  std::string_view name;
  void (*run)(Bytes bytes);
  std::string_view parsers;  // the files below lib/, separated by blanks, whose lines the corpus should reach
  Mutate mutate = nullptr;   // null: `scramble` alone
};

// Returns all targets in the order of their names.
const std::vector<Target>& targets();
// Returns the target, or null if there is none of that name.
const Target* find_target(std::string_view name);

// Defines the entry that FUZZ_TARGET adds to targets().
struct Registration {
  explicit Registration(const Target& target);
};

// FUZZ_TARGET(name, "room/parser.cpp ..." [, mutate]) { ... } defines a target, whose body gets `bytes`.
#define FUZZ_TARGET(name, ...)                                                                           \
  static void name##_target(::chexbench::fuzz::Bytes bytes);                                             \
  static const ::chexbench::fuzz::Registration name##_registration({#name, name##_target, __VA_ARGS__}); \
  static void name##_target(::chexbench::fuzz::Bytes bytes)

}  // namespace chexbench::fuzz
