#include "dataset/image_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"

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
bool add_folder(const storage::Store& store, const std::string& folder, std::vector<ImageFile>& files) {
  bool has_images_folder = false;
  for (storage::StoreEntry& entry : store.list(folder)) {
    if (entry.kind == storage::StoreEntry::Kind::folder && entry.name == "images") has_images_folder = true;
    if (entry.kind != storage::StoreEntry::Kind::file || !entry.name.ends_with(".png") || entry.name.starts_with('.'))
      continue;
    std::string path = folder + "/" + entry.name;
    files.push_back({std::move(entry.name), std::move(path), entry.bytes});
  }
  return has_images_folder;
}

// Returns whether the folder is one of those that `data convert` makes in a root.
bool is_converted(std::string_view folder) {
  return folder == "tfrecord" || folder == "webdataset" || folder == "cached";
}

// `inside` is the path from the folder in which the search began. It is "" or ends in '/'.
void add_images_below(const storage::Store& store, const std::string& folder, const std::string& inside, int depth,
                      std::vector<ImageFile>& files) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) {
    throw DataError(fmt::format("{}: folders are nested more than {} deep: does a link lead back?",
                                printable(folder, 1000), kDeepest));
  }
  for (storage::StoreEntry& entry : store.list(folder)) {
    if (entry.name.starts_with('.') || (depth == 0 && is_converted(entry.name))) continue;
    const std::string path = folder + "/" + entry.name;
    if (entry.kind == storage::StoreEntry::Kind::folder) {
      add_images_below(store, path, inside + entry.name + "/", depth + 1, files);
    } else if (entry.kind == storage::StoreEntry::Kind::file && is_image_name(entry.name)) {
      files.push_back({inside + entry.name, path, entry.bytes});
    }
  }
}

}  // namespace

bool is_png_name(std::string_view name) { return lower_case(name).ends_with(".png"); }

bool is_image_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".png", ".jpg", ".jpeg"};
  const std::string lower = lower_case(name);
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return lower.ends_with(ending); });
}

std::vector<ImageFile> list_images(const storage::Store& store, const std::string& folder) {
  std::vector<ImageFile> files;
  add_images_below(store, folder, "", 0, files);
  std::ranges::sort(files, {}, &ImageFile::name);
  return files;
}

std::vector<ImageFile> find_image_files(const storage::DataRoot& root) {
  std::vector<ImageFile> files;
  for (const std::string& folder : image_folders(root)) {
    if (add_folder(*root.store, folder, files)) add_folder(*root.store, folder + "/images", files);
  }
  std::stable_sort(files.begin(), files.end(), [](const ImageFile& a, const ImageFile& b) { return a.name < b.name; });
  const auto same = [](const ImageFile& a, const ImageFile& b) { return a.name == b.name; };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

}  // namespace chexbench::dataset
