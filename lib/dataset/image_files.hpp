// Lists the image files of a root, in the folders of its edition, and keeps and orders their names, possibly millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset/passed_over.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

struct Index;

// Copies text into large blocks, one text after another: a std::string for each would cost 32 bytes and, from 16
// characters on, an allocation. Views stay valid as long as the arena, also when it is moved. Not thread-safe.
class NameArena {
 public:
  // Keeps the parts as one text.
  std::string_view keep(std::initializer_list<std::string_view> parts);
  std::string_view keep(std::string_view text) { return keep({text}); }

 private:
  char* room_for(std::size_t bytes);

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = 0;   // bytes of the last block
  std::size_t bytes_ = 0;  // size of the last block
};

// Returns the numbers below `count` in the order of the names that `name_of` gives for them; equal names keep their
// order. Takes 16 bytes a name besides the result. Up to 2^32 names. `name_of` must not return a std::string.
std::vector<std::uint32_t> order_of_names(std::size_t count,
                                          const std::function<std::string_view(std::size_t)>& name_of);

// Sorts items by their member `name`; those with equal names keep their order.
template <typename Item>
void sort_by_name(std::vector<Item>& items) {
  std::vector<std::uint32_t> order =
      order_of_names(items.size(), [&](std::size_t i) -> std::string_view { return items[i].name; });
  // Moves each item to its position along the cycles of the permutation, so no second vector is needed.
  for (std::size_t begin = 0; begin < order.size(); ++begin) {
    if (order[begin] == begin) continue;
    Item first = std::move(items[begin]);
    std::size_t place = begin;
    for (std::size_t from = order[place]; from != begin; from = order[place]) {
      items[place] = std::move(items[from]);
      order[place] = static_cast<std::uint32_t>(place);
      place = from;
    }
    items[place] = std::move(first);
    order[place] = static_cast<std::uint32_t>(place);
  }
}

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
