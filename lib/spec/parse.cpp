#include "spec/parse.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "spec/draft.hpp"
#include "spec/text_file.hpp"

namespace chexbench::spec {

SweepSpec parse_spec(const std::string& text, const std::string& source, const std::vector<std::string>& overrides) {
  Draft draft;
  draft.read(parse_document(text, source), source);
  for (const std::string& override : overrides) draft.set(override);
  return draft.finish();
}

SweepSpec load_spec(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_spec(read_text_file(path, "experiment"), path, overrides);
}

Experiment parse_experiment(const std::string& text, const std::string& source) {
  const std::vector<Trial> trials = expand(parse_spec(text, source));
  if (trials.size() != 1) throw SpecError(fmt::format("{}: one trial was expected, not {}", source, trials.size()));
  return trials.front().experiment;
}

}  // namespace chexbench::spec
