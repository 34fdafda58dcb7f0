#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "dataset/dicom.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

std::string_view first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// The split and the class of one file, by its path in the root.
struct Place {
  bool IndexRow::*split = nullptr;  // null if the root has no splits, or the file is in none of them
  std::string_view name;            // the class; empty if the file is in no folder of a class
};

Place place_of(std::string_view path, bool has_splits) {
  if (!has_splits) return {nullptr, first_folder(path)};
  const std::string_view folder = first_folder(path);
  bool IndexRow::*const split = split_called(folder);
  if (split == nullptr) return {};
  return {split, first_folder(path.substr(folder.size() + 1))};
}

void number_classes(std::map<std::string, std::size_t, std::less<>>& classes, Index& index) {
  for (auto& [name, number] : classes) {
    number = index.label_names.size();
    index.label_names.push_back(name);
  }
}

}  // namespace

Index read_folder_layout(const storage::DataRoot& root) {
  Index index;
  index.root = index.table = root.path;
  index.layout = spec::DataLayout::folders;
  index.files = list_images(*root.store, root.path, index.names);
  const bool has_splits = std::ranges::any_of(
      index.files, [](const ImageFile& file) { return split_called(first_folder(file.name)) != nullptr; });
  const auto is_outside = [&](const ImageFile& file) { return place_of(file.name, has_splits).name.empty(); };
  const auto outside = std::erase_if(index.files, is_outside);
  if (index.files.empty()) {
    // If the layout was guessed, no other layout fitted either, and the message must name those, too.
    const std::string others =
        root.layout == spec::DataLayout::folders
            ? ""
            : ", and there is no table either (Data_Entry*.csv of ChestX-ray14, or your own .csv)";
    throw DataError(
        fmt::format("no images in folders of classes below '{}': expected {}/CLASS/IMAGE.png (.jpg, .jpeg), or "
                    "{}/train/CLASS/IMAGE.png; {} images are outside of such folders{}{}",
                    root.path, root.path, root.path, outside, others, dicom_hint(root)));
  }
  if (outside > 0) log::warning("{}: {} images are not in the folder of a class and are left out", root.path, outside);
  std::map<std::string, std::size_t, std::less<>> classes;
  for (const ImageFile& file : index.files) classes.emplace(place_of(file.name, has_splits).name, 0);
  number_classes(classes, index);
  index.rows.reserve(index.files.size());
  for (const ImageFile& file : index.files) {
    const Place place = place_of(file.name, has_splits);
    IndexRow& row = index.rows.emplace_back();
    row.name = file.name;
    row.labels.set(classes.find(place.name)->second);
    row.patient = static_cast<std::uint32_t>(index.rows.size() - 1);
    if (place.split == nullptr) continue;
    row.*place.split = true;
    note_split(place.split, index);
  }
  return index;
}

}  // namespace chexbench::dataset
