// Helpers for the tests of the spec: the message of the error that a call throws, and specs in one line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "spec/parse.hpp"
#include "spec/sweep.hpp"

namespace chexbench::spec {

// Returns the message of the SpecError that `call` throws, or "nothing was thrown". Other errors pass through.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const SpecError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline std::string spec_error(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return error_of([&] { parse_spec(text, "x.json", overrides); });
}

// Returns the trials of a spec whose data.root is set.
inline std::vector<Trial> trials_of(const std::string& text, std::vector<std::string> overrides = {}) {
  overrides.insert(overrides.begin(), "data.root=d");
  return expand(parse_spec(text, "x.json", overrides));
}

inline std::vector<std::string> names_of(const std::vector<Trial>& trials) {
  std::vector<std::string> names;
  for (const Trial& trial : trials) names.push_back(trial.name);
  return names;
}

// Returns op number `occurrence` of this name. @throws std::out_of_range if there is none
inline const OpSpec& op_of(const PipelineSpec& pipeline, const std::string& op, int occurrence = 0) {
  for (const OpSpec& candidate : pipeline.ops) {
    if (candidate.op == op && occurrence-- == 0) return candidate;
  }
  throw std::out_of_range(op);
}

}  // namespace chexbench::spec
