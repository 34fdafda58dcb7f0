// Tells which experiments, pipelines and accelerator profiles of configs/ are built into the binary.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace chexbench::spec {

struct ShippedFile {
  std::string name;         // as a spec or --config gives it
  std::string description;  // one line: what it is, or the question that it answers
};

// Return what is built in, sorted by name. Thread-safe.
std::vector<ShippedFile> shipped_experiments();
std::vector<ShippedFile> shipped_pipelines();
std::vector<ShippedFile> shipped_accelerators();

}  // namespace chexbench::spec
