// The manifest that a conversion leaves next to its shards, ROOT/FORMAT/SPLIT-manifest.json. It records what was
// converted and how long that took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "spec/trial_spec.hpp"
#include "storage/data_root.hpp"

namespace chexbench::formats {

// One file that a conversion made.
struct ShardFile {
  std::string name;  // without a folder
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  bool kept = false;  // whether it was already there, undamaged; the manifest has only the number of these
};

// The result of a conversion, as in its manifest.
struct Conversion {
  spec::Split split = spec::Split::train;
  spec::DataFormat format = spec::DataFormat::tfrecord;
  std::vector<ShardFile> shards;
  std::uint64_t images = 0;
  std::optional<std::uint64_t> patients;  // empty if the patients are unknown
  std::uint64_t image_bytes = 0;          // of the image files
  std::uint64_t shard_bytes = 0;          // of all shards, or of the file of cached pixels
  double seconds = 0;                     // wall-clock time
  // The labels in the order of image/label. Empty for cached pixels, which have no labels.
  std::vector<std::string> label_names;
  // The names of the images that cannot be decoded. Shards contain the bytes of their files unchanged.
  std::vector<std::string> damaged;

  std::size_t kept() const;  // how many of `shards` were kept
};

// Returns the manifest's path, whether it exists or not.
std::string manifest_path(const std::string& root, spec::Split split,
                          spec::DataFormat format = spec::DataFormat::tfrecord);

// Returns the manifest's text. Bytes of names that are not UTF-8 become U+FFFD.
std::string manifest_json(const Conversion& conversion);

// The contents of a manifest. Each member is std::nullopt if the manifest lacks it, as in older versions.
struct Manifest {
  std::optional<std::uint64_t> images;
  std::optional<std::uint64_t> shard_bytes;
  std::optional<std::uint64_t> shards_kept;  // how many shards an earlier, interrupted conversion had written
  std::optional<double> seconds;
  std::optional<std::vector<std::string>> label_names;
  std::vector<std::string> shards;  // names; "" for an entry without a name

  // Returns whether the shards were made with these labels in this order; also true if the manifest has no labels.
  bool has_labels(std::span<const std::string> names) const;
};

// Returns std::nullopt if there is no manifest, or if it cannot be read or parsed. Thread-safe.
// @throws DataError if a newer chexbench wrote it
std::optional<Manifest> read_manifest(const storage::DataRoot& root, spec::Split split,
                                      spec::DataFormat format = spec::DataFormat::tfrecord);

// Reads and writes the small JSON files that chexbench puts next to a data set: manifests and records of staging.

// Returns the contents of the file, or the JSON value null if the file is missing, damaged or nested too deep; callers
// then treat its contents as unknown. Thread-safe.
// @throws DataError if a newer chexbench wrote it (core/json_text.hpp)
nlohmann::json read_json_file(const storage::DataRoot& root, const std::string& path);

// Returns the text of such a file, indented and with a newline at the end. Bytes that are not UTF-8 become U+FFFD,
// because JSON cannot store them.
std::string json_file_text(const nlohmann::ordered_json& object);

// Returns the seconds rounded to three decimals, which is enough for people.
double rounded_to_ms(double seconds);

// Returns the member `key` of an object as a T, or std::nullopt if there is no such member or it has another type. An
// unsigned T accepts only whole numbers from 0 to 2^64 - 1, because the library would cast all others.
template <typename T>
std::optional<T> value_of(const nlohmann::json& object, const char* key) {
  try {
    const nlohmann::json& member = object.at(key);
    if (std::is_unsigned_v<T> && !std::is_same_v<T, bool> && !member.is_number_unsigned()) return std::nullopt;
    return member.get<T>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace chexbench::formats
