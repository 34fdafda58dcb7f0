#include "data/image_files.hpp"

#include <algorithm>
#include <filesystem>

namespace chexbench::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> image_folders(const DataRoot& root) {
  std::vector<std::string> folders;
  for (const StoreEntry& entry : root.store->list(root.path)) {
    if (entry.kind != StoreEntry::Kind::folder) continue;
    if (entry.name == "images" || entry.name.starts_with("images_"))
      folders.push_back(fs::path(root.path) / entry.name);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The folder's images; true where it has a folder `images` besides.
bool add_folder(const Store& store, const std::string& folder, std::vector<ImageFile>& files) {
  bool has_images_folder = false;
  for (StoreEntry& entry : store.list(folder)) {
    if (entry.kind == StoreEntry::Kind::folder && entry.name == "images") has_images_folder = true;
    if (entry.kind != StoreEntry::Kind::file || !entry.name.ends_with(".png") || entry.name.starts_with('.')) continue;
    std::string path = folder + "/" + entry.name;
    files.push_back({std::move(entry.name), std::move(path), entry.bytes});
  }
  return has_images_folder;
}

}  // namespace

std::vector<ImageFile> find_image_files(const DataRoot& root) {
  std::vector<ImageFile> files;
  for (const std::string& folder : image_folders(root)) {
    if (add_folder(*root.store, folder, files)) add_folder(*root.store, folder + "/images", files);
  }
  std::stable_sort(files.begin(), files.end(), [](const ImageFile& a, const ImageFile& b) { return a.name < b.name; });
  const auto same = [](const ImageFile& a, const ImageFile& b) { return a.name == b.name; };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

}  // namespace chexbench::data
