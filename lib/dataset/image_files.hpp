// Lists the image files of a root, in the folders of its edition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/names.hpp"
#include "dataset/passed_over.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

struct Index;

// One image file that exists. See the functions below for the arena that owns its name and its path.
struct ImageFile {
  std::string_view name;               // see the functions below for the folder that it is relative to
  std::string_view path;               // in the store
  std::optional<std::uint64_t> bytes;  // std::nullopt if the store's listing does not report sizes
};

// Returns whether the name ends in .png, in either case.
bool is_png_name(std::string_view name);

// Returns whether the name ends in .png, .jpg or .jpeg or, in a build that reads DICOM files, .dcm or .dicom, in either
// case.
bool is_image_name(std::string_view name);

// Returns every image file below a folder, at most 32 folders deep, in the order of names. The ending decides, as in
// is_image_name(). Hidden files and folders are left out, and so are the folders tfrecord, webdataset and cached
// directly in `folder`, and folders of results below it. A name is the path from `folder`, such as "a/b.png"; names and
// paths are kept in `names`. Files left out are added to `passed`, if there is one; from the three folders, only
// images. Thread-safe.
// @throws DataError if a folder cannot be read, or folders are nested deeper
std::vector<ImageFile> list_images(const storage::Store& store, const std::string& folder, NameArena& names,
                                   PassedOver* passed = nullptr);

// Returns the images of ChestX-ray14, in any folder of the root, under the names of the matching rows (match_files()),
// else under their own without a folder. If several files have one name, the first path is used, with images/ and
// images_NNN/ before other folders; the others are added to `passed`, as in list_images(). Names and paths are kept in
// `names`. Thread-safe. @throws DataError as list_images() and match_files()
std::vector<ImageFile> find_nih_files(const storage::DataRoot& root, const Index& index, NameArena& names,
                                      PassedOver* passed);

}  // namespace chexbench::dataset
