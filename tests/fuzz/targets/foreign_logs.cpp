// Step logs of other programs. The content identifies the program, so there is one target for all.
#include <algorithm>
#include <cmath>
#include <string>

#include "fuzz/fuzz.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"

namespace chexbench::fuzz {
namespace {

// Reads the text in pieces of at most `piece` bytes.
verbs::StepLog read_in_pieces(const std::string& text, std::size_t piece) {
  verbs::foreign::ByteReader reader([fill = verbs::foreign::fill_from(text), piece](
                                        char* to, std::size_t size) mutable { return fill(to, std::min(size, piece)); },
                                    "log");
  return verbs::read_step_log(reader);
}

bool is_possible(const verbs::LoggedStep& step, bool counts_images) {
  return step.step_s > 0 && step.wait_s >= 0 && step.wait_s <= step.step_s && step.steps > 0 && step.rank >= 0 &&
         step.epoch >= 0 && std::isfinite(step.step_s) && (counts_images ? step.images > 0 : step.images == 0);
}

}  // namespace

FUZZ_TARGET(foreign_log,
            "verbs/diagnose/foreign/streamed_json.cpp verbs/diagnose/foreign/trace_logs.cpp "
            "verbs/diagnose/foreign/json_logs.cpp verbs/diagnose/foreign/read_log.cpp") {
  const std::string text(Input(bytes).text());
  const auto log = accepted({ExitCode::data}, [&] { return read_in_pieces(text, text.size() + 1); });
  if (!log) return;
  require(!log->steps.empty(), "a step log has no steps");
  for (const verbs::LoggedStep& step : log->steps) {
    require(is_possible(step, log->counts_images), "a step has values that no step can have");
  }
  // The first bytes identify CSV, so they arrive together.
  const auto again = accepted({}, [&] { return read_in_pieces(text, 4096); });
  require(again->steps.size() == log->steps.size(), "a file that comes in pieces has other steps");
}

}  // namespace chexbench::fuzz
