// Copies the parts of a data set that a run reads from any store into a local folder, on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "spec/trial_spec.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

// Returns the free bytes of the file system of `folder`, which must exist.
// @throws OutputError with the path and the system's reason
std::uint64_t free_bytes(const std::string& folder);

struct StageOptions {
  spec::DataSpec data;      // which images to copy, from which root and store, and in which format
  std::string folder;       // where the copies go; it becomes a root of the same layout
  std::size_t threads = 0;  // 0: one per usable core, or 16 if the store is distant
  std::function<std::uint64_t(const std::string&)> free_bytes = dataset::free_bytes;  // tests pass another
};

// The result. Its record has the same, with split and format instead of `record` and `copied_bytes`.
struct Staging {
  std::string from;                // the root
  std::string record;              // path of the record
  std::uint64_t images = 0;        // of the split
  std::uint64_t files = 0;         // of every kind: tables, lists, images or shards
  std::uint64_t kept = 0;          // files that already existed
  std::uint64_t bytes = 0;         // of all files
  std::uint64_t copied_bytes = 0;  // of the files that were not kept
  double seconds = 0;              // wall-clock time
};

// Copies the files from which the labels of the split are read, and its images or shards. A copy gets its name when it
// is complete and has the size that the store reported. An existing copy is kept if it has that size and, for a local
// root, is not older, so the same command continues a staging that was stopped. At the end
// FOLDER/staged-SPLIT-FORMAT.json is written, unless it exists and all files were kept.
// @throws SpecError as open_dataset(); if the folder is a URL, the root itself or within it; for the formats ready
// and cached; for shards of layout folders, because their labels are the images' folders
// @throws DataError as open_dataset(), or if a file cannot be read as a whole
// @throws OutputError if there is not enough room, a file cannot be written, or a write would follow a symbolic link
// within the folder
// @throws InterruptedError after a signal
Staging stage_data_set(const StageOptions& options);

// The cost of staging the split of a root, from its record.
struct StagingCost {
  std::string from;  // the root that was staged
  std::uint64_t images = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;
};

// Returns std::nullopt if there is no record, if it is damaged, or if files were kept: its seconds then leave out their
// copies. Thread-safe.
std::optional<StagingCost> staging_cost(const storage::DataRoot& root, spec::Split split, spec::DataFormat format);

// The record that a staging leaves in its folder: a JSON file on what was copied and how long it took.

// Returns FOLDER/staged-SPLIT-FORMAT.json, the path of the record; FORMAT is an alias if only that file exists.
std::string staging_record_path(const std::string& folder, spec::Split split, spec::DataFormat format);

// Writes the record to the path staging.record. @throws OutputError if it cannot be written
void write_staging_record(const Staging& staging, const spec::DataSpec& spec);

}  // namespace chexbench::dataset
