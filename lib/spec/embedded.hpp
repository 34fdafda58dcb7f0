// Files of configs/ that are built into the binary. embed.cmake writes the definitions.
#pragma once

#include <span>
#include <string_view>

namespace chexbench::spec {

struct EmbeddedFile {
  std::string_view name;  // of the file, without ".json"
  std::string_view text;
};

// configs/accelerators/*.json, by name.
std::span<const EmbeddedFile> embedded_accelerators();

// configs/pipelines/*.json, by name.
std::span<const EmbeddedFile> embedded_pipelines();

}  // namespace chexbench::spec
