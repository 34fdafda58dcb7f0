// Lists the image files of a root, in whichever folders its edition puts them.
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

// One image file that exists. The functions below say which arena holds its name and its path.
struct ImageFile {
  std::string_view name;               // the functions below say relative to which folder
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
// paths are kept in `names`. What is left out is added to `passed`, if there is one; of the three folders it is the
// images in them. Thread-safe.
// @throws DataError if a folder cannot be read, or folders are nested deeper
std::vector<ImageFile> list_images(const storage::Store& store, const std::string& folder, NameArena& names,
                                   PassedOver* passed = nullptr);

// Returns the images of ChestX-ray14, in whichever folders of the root they lie, under the names of their rows where
// these mean them (match_files()), else under their own without a folder. Of files with one name that is used which
// comes first by its path, those of images/ and images_NNN/ before others; the others are added to `passed`, as in
// list_images(). Names and paths are kept in `names`. Thread-safe. @throws DataError as list_images() and match_files()
std::vector<ImageFile> find_nih_files(const storage::DataRoot& root, const Index& index, NameArena& names,
                                      PassedOver* passed);

}  // namespace chexbench::dataset
