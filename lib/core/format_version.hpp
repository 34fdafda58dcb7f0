// The version in every file that chexbench writes and reads again. Adding a key does not raise it, because readers
// ignore unknown keys; removing, renaming or redefining one does.
#pragma once

#include <cstdint>
#include <string>

namespace chexbench {

inline constexpr const char* kFormatVersionKey = "schema_version";
// Of the files without a separate version: run.json, manifests, records of staging, notes of checkpoints. Files without
// the key are version 1.
inline constexpr std::int64_t kFormatVersion = 1;

// Returns why a file of version `found` cannot be read by a reader of versions up to `known`, or "".
inline std::string refusal_of_version(std::int64_t found, std::int64_t known = kFormatVersion) {
  if (found <= known) return "";
  return "it was written by a newer chexbench: its " + std::string(kFormatVersionKey) + " is " + std::to_string(found) +
         ", and this chexbench reads " + std::to_string(known) + "; read it with the newer one, or update this one";
}

}  // namespace chexbench
