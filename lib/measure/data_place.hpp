// Which file system a data set is on, and how much of it is already in the page cache.
#pragma once

#include <optional>
#include <string>

#include "measure/file_system.hpp"
#include "measure/page_cache.hpp"
#include "measure/striping.hpp"

namespace chexbench::measure {

// The folder `root`, its file system, and the page cache share of a sample of its files.
struct DataPlace {
  std::string root;
  FileSystem file_system;
  CachedShare sample;                // a sample of files spread evenly over the folder
  std::optional<Striping> striping;  // set on a parallel file system, by those who ask its tool

  // Returns "cold" (below 5 % cached), "warm" (above 95 %) or "partly cached"; or "not known" if there are no files
  // or the kernel does not report what is cached.
  std::string cache_word() const;
  // Returns the cached share of the sample's bytes, from 0 to 1; 0 for an empty sample.
  double cached_share() const;
};

// Looks at up to 64 of the files below `root`, spread evenly over their sorted list. Visits at most 100,000 directory
// entries and takes milliseconds. Opens files but reads none of their contents. Thread-safe.
// @throws DataError if `root` is not a folder
DataPlace look_at_data(const std::string& root, const SystemRoots& roots = {});

}  // namespace chexbench::measure
