// Files of other benchmarks from which experiments are made.
#include <algorithm>
#include <string>

#include "fuzz/fuzz.hpp"
#include "spec/parse.hpp"
#include "spec/profile.hpp"
#include "verbs/import/dlio.hpp"
#include "verbs/import/yaml.hpp"

namespace chexbench::fuzz {

FUZZ_TARGET(dlio_workload, "verbs/import/yaml.cpp verbs/import/dlio_workload.cpp verbs/import/dlio_import.cpp") {
  const std::string text(Input(bytes).text());
  const auto values = accepted({ExitCode::spec}, [&] { return verbs::read_yaml(text, "w.yaml"); });
  if (!values) return;
  const auto lines = std::ranges::count(text, '\n') + 1;
  for (const verbs::YamlValue& value : *values)
    require(!value.path.empty() && value.line >= 1 && value.line <= lines,
            "a value has no path, or no line of the file");
  const auto workload = accepted({ExitCode::spec}, [&] { return verbs::parse_dlio_workload(text, "w.yaml"); });
  if (!workload) return;
  const auto made = accepted({ExitCode::spec}, [&] { return verbs::import_dlio(*workload, "w.yaml", "out"); });
  if (!made) return;
  const spec::AcceleratorProfile profile = spec::parse_profile(made->profile_text, made->profile_path);
  require(profile.entries.at(0).compute_s() > 0, "a step takes no time");
  require(!verbs::import_summary(*workload, *made).empty(), "nothing is told of an import");
}

}  // namespace chexbench::fuzz
