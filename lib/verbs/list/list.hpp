// Lists the named parts that are built into the binary: experiments, pipelines and accelerator profiles.
#pragma once

#include <string>

namespace chexbench::verbs {

// Return the list as text: lines of at most 100 columns for people, or JSON.
std::string shipped_table();
std::string shipped_json();

}  // namespace chexbench::verbs
