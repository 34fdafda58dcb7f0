// The arguments for the location and layout of a data set, for verbs that take one without a spec.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::app {

struct DataSetArguments {
  std::string root;
  std::vector<std::string> overrides;  // "data.labels.csv=labels.csv"

  // Returns the overrides that chexbench-data.json does not keep.
  std::vector<std::string> store_overrides() const;
  // Returns the others, which also apply to a copy of the data set.
  std::vector<std::string> layout_overrides() const;

  // Returns the data section of a spec with these keys, and with those in the folder's chexbench-data.json.
  // @throws SpecError if a key is not allowed here or a value is wrong
  spec::DataSpec spec() const;
};

// Adds the positional argument `name` and --set to `verb`.
std::shared_ptr<DataSetArguments> add_data_set(CLI::App& verb, const std::string& name);

}  // namespace chexbench::app
