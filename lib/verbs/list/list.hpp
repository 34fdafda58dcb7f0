// Lists the named parts that are built into the binary: experiments, pipelines and accelerator profiles.
#pragma once

#include <string>
#include <vector>

#include "spec/shipped.hpp"

namespace chexbench::verbs {

struct ShippedList {
  std::string chexbench_version;
  std::vector<spec::ShippedFile> experiments;
  std::vector<spec::ShippedFile> pipelines;
  std::vector<spec::ShippedFile> accelerators;
};

// Returns everything that is built in; chexbench_version is left empty.
ShippedList list_shipped();

// Return the list as text: lines of at most 100 columns for people, or JSON.
std::string shipped_table(const ShippedList& list);
std::string shipped_json(const ShippedList& list);

}  // namespace chexbench::verbs
