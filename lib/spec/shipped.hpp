// Lists the experiments, pipelines and accelerator profiles of configs/ that are built into the binary.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chexbench::spec {

struct ShippedFile {
  std::string name;         // as used in a spec or with --config
  std::string description;  // one line: its content, or the question it answers
};

// Return what is built in, sorted by name. Thread-safe.
std::vector<ShippedFile> shipped_experiments();
std::vector<ShippedFile> shipped_pipelines();
std::vector<ShippedFile> shipped_accelerators();

// A file's name and contents, valid until the program ends.
struct EmbeddedFile {
  std::string_view name;  // without ".json"
  std::string_view text;
};

// Returns configs/accelerators/*.json, sorted by name.
std::span<const EmbeddedFile> embedded_accelerators();

// Returns configs/experiments/*.json, sorted by name.
std::span<const EmbeddedFile> embedded_experiments();

// Returns configs/pipelines/*.json, sorted by name.
std::span<const EmbeddedFile> embedded_pipelines();

}  // namespace chexbench::spec
