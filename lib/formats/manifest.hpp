// The manifest that a conversion leaves beside its shards: ROOT/FORMAT/SPLIT-manifest.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/experiment.hpp"
#include "storage/data_root.hpp"

namespace chexbench::formats {

struct ShardFile {
  std::string name;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  bool kept = false;  // It was already there and undamaged. A manifest that is read back does not say.
};

// What a conversion did; its manifest holds the same.
struct Conversion {
  spec::Split split = spec::Split::train;
  spec::DataFormat format = spec::DataFormat::tfrecord;
  std::vector<ShardFile> shards;
  std::uint64_t images = 0;
  std::uint64_t patients = 0;
  std::uint64_t image_bytes = 0;  // of the image files
  std::uint64_t shard_bytes = 0;
  double seconds = 0;
  std::vector<std::string> label_names;  // in the order of image/label
  // The names of the images that cannot be decoded. Shards hold their bytes as they are.
  std::vector<std::string> damaged;

  std::size_t kept() const;
};

std::string manifest_path(const std::string& root, spec::Split split,
                          spec::DataFormat format = spec::DataFormat::tfrecord);

// The manifest's text. Bytes of names that are not UTF-8 become U+FFFD.
std::string manifest_json(const Conversion& conversion);

// What a manifest says. Manifests of older versions lack some of it.
struct Manifest {
  std::optional<std::uint64_t> images;
  std::optional<std::uint64_t> shard_bytes;
  std::optional<std::uint64_t> shards_kept;  // How many shards an earlier, interrupted conversion had written.
  std::optional<double> seconds;
  std::optional<std::vector<std::string>> label_names;
  std::vector<std::string> shards;  // names

  // Whether the shards were made with these labels in this order, or the manifest does not say.
  bool has_labels(std::span<const std::string> names) const;
};

// Returns std::nullopt if there is no manifest, or it cannot be read or parsed: nothing is known then. Thread-safe.
std::optional<Manifest> read_manifest(const storage::DataRoot& root, spec::Split split,
                                      spec::DataFormat format = spec::DataFormat::tfrecord);

}  // namespace chexbench::formats
