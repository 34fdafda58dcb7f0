// The error types of chexbench and its exit codes. Libraries throw these types and never exit; only
// apps/chexbench/main.cpp turns them into an exit code and a message on stderr.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace chexbench {

// The exit codes of the process, which are part of the command's interface.
enum class ExitCode : int {
  ok = 0,
  internal = 1,       // a defect of chexbench
  spec = 2,           // the spec or the command line is wrong
  data = 3,           // the data set, a file or a record is wrong; also if there are more ranks than files
  device = 4,         // an accelerator or the communication between ranks failed, or memory ran out
  comparison = 5,     // a comparison or a selftest failed
  output = 6,         // a result could not be written
  undeclared = 7,     // two runs differ in more than was declared
  interrupted = 130,  // SIGINT: 128 + 2, as shells report it
  terminated = 143,   // SIGTERM, SIGHUP or a batch system's warning: 128 + 15
};

// The base class of every error that chexbench throws on purpose. The message explains what went wrong, where, and how
// to fix it, in one or two sentences. It may contain unmodified names and values from files: what() shows control
// characters like printable(), and only a ComparisonError has several lines.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message);
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

struct SpecError : Error {
  explicit SpecError(const std::string& message) : Error(ExitCode::spec, message) {}
};
struct DataError : Error {
  explicit DataError(const std::string& message) : Error(ExitCode::data, message) {}
};
struct DeviceError : Error {
  explicit DeviceError(const std::string& message) : Error(ExitCode::device, message) {}
};
// The device has failed for the rest of this process: every later call would fail as well. Code that tries something
// else after a DeviceError must let this one propagate.
struct DeviceLostError : DeviceError {
  using DeviceError::DeviceError;
};
struct ComparisonError : Error {
  explicit ComparisonError(const std::string& message) : Error(ExitCode::comparison, message) {}
};
struct UndeclaredError : Error {
  explicit UndeclaredError(const std::string& message) : Error(ExitCode::undeclared, message) {}
};
struct OutputError : Error {
  explicit OutputError(const std::string& message) : Error(ExitCode::output, message) {}
};
// Thrown when a signal asked the run to end; results so far are kept. `code` is interrupted or terminated.
struct InterruptedError : Error {
  explicit InterruptedError(ExitCode code) : Error(code, "stopped by a signal") {}
};

// Returns the candidate nearest to `name` by edit distance (insertions, deletions, substitutions, and swaps of
// neighbours), or "" if none is likely to be meant. The limit is a distance of a third of the name's length, or 2 if
// that is more. Names longer than 100 bytes have no near candidate.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// Returns a text to append to an error message: " (did you mean 'X'?)", or " (known: A, B, C)" if no candidate is
// close, or "" if there are no candidates.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace chexbench
