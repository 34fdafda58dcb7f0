#include "dataset/image_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "dataset/name_order.hpp"
#include "image/dicom/dicom_decoder.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> image_folders(const storage::DataRoot& root) {
  std::vector<std::string> folders;
  for (const storage::StoreEntry& entry : root.store->list(root.path)) {
    if (entry.kind != storage::StoreEntry::Kind::folder) continue;
    if (entry.name == "images" || entry.name.starts_with("images_"))
      folders.push_back(fs::path(root.path) / entry.name);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// Adds the folder's images. Returns whether it has a folder `images` as well.
bool add_folder(const storage::Store& store, const std::string& folder, NameArena& names,
                std::vector<ImageFile>& files) {
  bool has_images_folder = false;
  const std::vector<storage::StoreEntry> entries = store.list(folder);
  if (files.empty()) files.reserve(entries.size());  // most sets have one folder, or a few
  for (const storage::StoreEntry& entry : entries) {
    if (entry.kind == storage::StoreEntry::Kind::folder && entry.name == "images") has_images_folder = true;
    if (entry.kind != storage::StoreEntry::Kind::file || !entry.name.ends_with(".png") || entry.name.starts_with('.'))
      continue;
    const std::string_view path = names.keep({folder, "/", entry.name});
    files.push_back({path.substr(folder.size() + 1), path, entry.bytes});
  }
  return has_images_folder;
}

// Returns whether the name ends in `ending`, which is in small letters. Names are in the millions: nothing is copied.
bool ends_in(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, small);
}

// Returns whether the folder is one of those that `data convert` makes in a root.
bool is_converted(std::string_view folder) {
  return folder == "tfrecord" || folder == "webdataset" || folder == "cached";
}

// `outside_bytes` is the length of the paths' beginning that is no part of names.
void add_images_below(const storage::Store& store, const std::string& folder, std::size_t outside_bytes, int depth,
                      NameArena& names, std::vector<ImageFile>& files) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) {
    throw DataError(fmt::format("{}: folders are nested more than {} deep: does a link lead back?",
                                printable(folder, 1000), kDeepest));
  }
  for (const storage::StoreEntry& entry : store.list(folder)) {
    if (entry.name.starts_with('.') || (depth == 0 && is_converted(entry.name))) continue;
    if (entry.kind == storage::StoreEntry::Kind::folder) {
      add_images_below(store, folder + "/" + entry.name, outside_bytes, depth + 1, names, files);
    } else if (entry.kind == storage::StoreEntry::Kind::file && is_image_name(entry.name)) {
      const std::string_view path = names.keep({folder, "/", entry.name});
      files.push_back({path.substr(outside_bytes), path, entry.bytes});
    }
  }
}

}  // namespace

bool is_png_name(std::string_view name) { return ends_in(name, ".png"); }

bool is_image_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".png", ".jpg", ".jpeg"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return ends_in(name, ending); }) ||
         (image::reads_dicom() && image::is_dicom_name(name));
}

std::vector<ImageFile> list_images(const storage::Store& store, const std::string& folder, NameArena& names) {
  std::vector<ImageFile> files;
  add_images_below(store, folder, folder.size() + 1, 0, names, files);
  sort_by_name(files);
  return files;
}

std::vector<ImageFile> find_image_files(const storage::DataRoot& root, NameArena& names) {
  std::vector<ImageFile> files;
  for (const std::string& folder : image_folders(root)) {
    if (add_folder(*root.store, folder, names, files)) add_folder(*root.store, folder + "/images", names, files);
  }
  sort_by_name(files);
  const auto same = [](const ImageFile& a, const ImageFile& b) { return a.name == b.name; };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

}  // namespace chexbench::dataset
