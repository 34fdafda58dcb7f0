// The arguments that say where a data set is and how it is laid out, for the verbs that take one without a spec.
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
  // Returns the others, which hold for a copy of the data set, too.
  std::vector<std::string> layout_overrides() const;

  // Returns the data section of a spec with these keys, and with those that the folder's chexbench-data.json keeps.
  // @throws SpecError if a key is not allowed here or a value is wrong
  spec::DataSpec spec() const;
};

// Adds the positional argument `name` and --set to `verb`.
std::shared_ptr<DataSetArguments> add_data_set(CLI::App& verb, const std::string& name);

}  // namespace chexbench::app
