// The version that every file of chexbench has which chexbench reads again. A key that is added leaves it, because
// readers ignore keys that they do not know; one that is removed, renamed or gets another meaning raises it.
#pragma once

#include <cstdint>
#include <string>

namespace chexbench {

inline constexpr const char* kFormatVersionKey = "schema_version";
// Of the files that have no version of their own: run.json, manifests, records of staging, notes of checkpoints. Files
// without the key are of version 1.
inline constexpr std::int64_t kFormatVersion = 1;

// Returns why a file of version `found` cannot be read where versions up to `known` can, or "".
inline std::string refusal_of_version(std::int64_t found, std::int64_t known = kFormatVersion) {
  if (found <= known) return "";
  return "it was written by a newer chexbench: its " + std::string(kFormatVersionKey) + " is " + std::to_string(found) +
         ", and this chexbench reads " + std::to_string(known) + "; read it with the newer one, or update this one";
}

}  // namespace chexbench
