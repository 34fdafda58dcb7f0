// Where data lie, and whether they are in memory already.
#pragma once

#include <string>

#include "measure/file_system.hpp"
#include "measure/page_cache.hpp"

namespace chexbench::measure {

struct DataPlace {
  std::string root;
  FileSystem file_system;
  CachedShare sample;  // of files spread over the folder

  // "cold", "warm", "partly cached"; "not known" where there are no files, or the kernel does not tell.
  std::string cache_word() const;
  // 0 to 1; 0 for an empty sample.
  double cached_share() const;
};

// Looks at up to 64 files of those under `root`. Milliseconds; opens no more than 100,000 folders' entries.
// @throws DataError where `root` is no folder
DataPlace look_at_data(const std::string& root, const SystemRoots& roots = {});

}  // namespace chexbench::measure
