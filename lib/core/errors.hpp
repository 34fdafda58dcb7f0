// The typed errors of chexbench. Libraries throw them and never exit; apps/chexbench/main.cpp is the only catch.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace chexbench {

// The process exit codes, part of the command's interface.
enum class ExitCode : int {
  ok = 0,
  internal = 1,    // a defect of chexbench
  spec = 2,        // the spec or the command line is wrong
  data = 3,        // the data set, a file or a record is wrong; also more ranks than files
  device = 4,      // an accelerator or the communication between ranks failed
  comparison = 5,  // a comparison or a selftest did not hold
  output = 6,      // a result could not be written
  interrupted = 130,
  terminated = 143,
};

// What went wrong, where, and how to mend it, in one sentence or two. The base of every error thrown on purpose.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
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
struct ComparisonError : Error {
  explicit ComparisonError(const std::string& message) : Error(ExitCode::comparison, message) {}
};
struct OutputError : Error {
  explicit OutputError(const std::string& message) : Error(ExitCode::output, message) {}
};
// A signal asked the run to end; what was measured so far is kept. `code` is interrupted or terminated.
struct InterruptedError : Error {
  explicit InterruptedError(ExitCode code) : Error(code, "stopped by a signal") {}
};

// The candidate nearest to `name` by edit distance (insertions, deletions, substitutions, transpositions), or ""
// where none is near enough to be what was meant (more than a third of the name's length, at least 2 edits allowed).
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// " (did you mean 'X'?)", or " (known: A, B, C)" where nothing is near. To be appended to a message.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace chexbench
