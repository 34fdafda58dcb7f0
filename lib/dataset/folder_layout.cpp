#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/conversions.hpp"
#include "dataset/layouts.hpp"
#include "dataset/passed_over.hpp"
#include "spec/folder_file.hpp"

namespace chexbench::dataset {
namespace {

std::string_view first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Returns whether the folders in the root are splits. Folders with the lower-case names that are usual with torchvision
// always are. A folder with another such name, such as Train or dev, may be a class, so there must be two splits, or no
// other folder with images.
bool are_splits(const std::vector<ImageFile>& files) {
  constexpr std::string_view kSure[] = {"train", "val", "valid", "validation", "test"};
  Index splits;
  bool has_other = false, is_sure = false;
  std::string_view before;
  for (const ImageFile& file : files) {
    const std::string_view folder = first_folder(file.name);
    if (folder.empty() || folder == before) continue;
    before = folder;
    is_sure = is_sure || std::ranges::find(kSure, folder) != std::end(kSure);
    bool IndexRow::*const split = split_called(folder);
    has_other = has_other || split == nullptr;
    if (split != nullptr) note_split(split, splits);
  }
  const int count = splits.has_train_list + splits.has_val_list + splits.has_test_list;
  return is_sure || count > 1 || (count == 1 && !has_other);
}

// The class of all images if there are no folders of classes at all.
constexpr std::string_view kOnlyClass = "images";

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

std::string_view class_of(const ImageFile& file, bool has_splits) {
  const std::string_view name = place_of(file.name, has_splits).name;
  return name.empty() ? kOnlyClass : name;
}

// Leaves the images out that are in no folder of a class, unless all are.
// @throws DataError if there are no images
void keep_classes(const storage::DataRoot& root, Index& index, bool has_splits) {
  if (index.files.empty()) {
    // If the layout was guessed, no other layout matched either, and the message must name those, too.
    const std::string others =
        root.layout == spec::DataLayout::folders
            ? ""
            : ", and there is no table either (Data_Entry*.csv of ChestX-ray14, or your own .csv)";
    throw DataError(
        fmt::format("no images below '{}': expected {}/CLASS/IMAGE.png (.jpg, .jpeg), or "
                    "{}/train/CLASS/IMAGE.png{}{}{}",
                    root.path, root.path, root.path, others, dicom_hint(root), shards_hint(root)));
  }
  const auto is_outside = [&](const ImageFile& file) { return place_of(file.name, has_splits).name.empty(); };
  if (std::ranges::all_of(index.files, is_outside)) return;
  for (const ImageFile& file : index.files) {
    if (is_outside(file)) index.passed.add(PassedKind::not_in_a_class, file.name);
  }
  if (const auto outside = std::erase_if(index.files, is_outside); outside > 0)
    log::warning("{}: left out {} outside the folders of the classes", root.path, count_text(outside, "image"));
}

// Warns about folders that look like splits but are not read as such: a split is a folder in the root.
void warn_of_other_splits(const storage::DataRoot& root, const Index& index, bool has_splits) {
  std::set<std::string_view> like_splits;
  std::string_view before;
  for (const ImageFile& file : index.files) {
    const std::string_view folder = file.name.substr(0, std::min(file.name.rfind('/'), file.name.size()));
    if (folder == before || folder == file.name) continue;
    before = folder;
    for (std::size_t begin = 0, end = 0; end < folder.size(); begin = end + 1) {
      end = std::min(folder.find('/', begin), folder.size());
      const std::string_view part = folder.substr(begin, end - begin);
      const bool is_used = has_splits && begin == 0 && split_called(part) != nullptr;
      if (!is_used && suggests_split(part)) like_splits.insert(folder.substr(0, end));
    }
  }
  if (like_splits.empty()) return;
  log::warning(
      "{}: {} looks like a split and is not read as one{}: name the folders of splits train, val and test, directly "
      "in the root",
      root.path, printable(*like_splits.begin()),
      like_splits.size() == 1 ? "" : fmt::format(", and so do {} more", like_splits.size() - 1));
}

// Warns about folders of classes that have files, but none that can be read.
void warn_of_lost_classes(const storage::DataRoot& root, const Index& index, bool has_splits) {
  std::set<std::string, std::less<>> lost;
  for (const std::string& folder : index.passed.image_folders()) {
    const std::string path = folder + "/";
    const std::string_view name = place_of(path, has_splits).name;
    if (!name.empty() && std::ranges::find(index.label_names, name) == index.label_names.end()) lost.emplace(name);
  }
  if (lost.empty()) return;
  log::warning("{}: no image of class {} can be read, so {}", root.path,
               printable(fmt::to_string(fmt::join(lost, ", "))),
               lost.size() == 1 ? "it is not a label" : "they are not labels");
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
  index.passed.use(spec::kFolderFileName);
  index.files = list_images(*root.store, root.path, index.names, &index.passed);
  const bool has_splits = are_splits(index.files);
  keep_classes(root, index, has_splits);
  warn_of_other_splits(root, index, has_splits);
  std::map<std::string, std::size_t, std::less<>> classes;
  for (const ImageFile& file : index.files) classes.emplace(class_of(file, has_splits), 0);
  number_classes(classes, index);
  warn_of_lost_classes(root, index, has_splits);
  index.rows.reserve(index.files.size());
  for (const ImageFile& file : index.files) {
    const Place place = place_of(file.name, has_splits);
    IndexRow& row = index.rows.emplace_back();
    row.name = file.name;
    row.labels.set(classes.find(class_of(file, has_splits))->second);
    row.patient = static_cast<std::uint32_t>(index.rows.size() - 1);
    if (place.split == nullptr) continue;
    row.*place.split = true;
    note_split(place.split, index);
  }
  return index;
}

}  // namespace chexbench::dataset
