// Gives access to the files of configs/ that are built into the binary. embed.cmake generates the definitions.
#pragma once

#include <span>
#include <string_view>

namespace chexbench::spec {

// A file's name and contents, which live as long as the program.
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
