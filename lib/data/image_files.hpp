// The image files that a root holds, wherever its edition puts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/store/data_root.hpp"

namespace chexbench::data {

struct ImageFile {
  std::string name;
  std::string path;
  std::optional<std::uint64_t> bytes;  // where the store's listing tells
};

// All *.png files of ROOT/images, ROOT/images_NNN and ROOT/images_NNN/images, in the order of names. A file that lies
// in two folders is listed once, from the folder that comes first by name. @throws DataError: a folder cannot be read
std::vector<ImageFile> find_image_files(const DataRoot& root);

}  // namespace chexbench::data
