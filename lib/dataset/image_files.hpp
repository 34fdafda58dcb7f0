// The image files that a root holds, wherever its edition puts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/data_root.hpp"

namespace chexbench::dataset {

struct ImageFile {
  std::string name;
  std::string path;
  std::optional<std::uint64_t> bytes;  // where the store's listing tells
};

// Every PNG and JPEG file under a folder, by its name (.png, .jpg, .jpeg, in either case), however deep; hidden ones
// and what lies in ROOT/tfrecord excepted. `name` is the path from that folder: "a/b.png". In the order of names.
// @throws DataError: a folder cannot be read, or they are nested without end
std::vector<ImageFile> list_images(const storage::Store& store, const std::string& folder);

// All *.png files of ROOT/images, ROOT/images_NNN and ROOT/images_NNN/images, in the order of names. A file that lies
// in two folders is listed once, from the folder that comes first by name. @throws DataError: a folder cannot be read
std::vector<ImageFile> find_image_files(const storage::DataRoot& root);

}  // namespace chexbench::dataset
