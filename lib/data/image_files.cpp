#include "data/image_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/errors.hpp"

namespace chexbench::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> image_folders(const std::string& root) {
  std::vector<std::string> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if ((name != "images" && !name.starts_with("images_")) || !entry.is_directory()) continue;
    folders.push_back(entry.path());
    if (fs::is_directory(entry.path() / "images")) folders.push_back(entry.path() / "images");
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// readdir and fstatat relative to the folder: at 112,120 files, walking each full path anew would be most of the time.
void add_folder(const std::string& folder, std::vector<ImageFile>& files) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), &::closedir);
  if (!directory) throw DataError(fmt::format("cannot read folder {}: {}", folder, std::strerror(errno)));
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(".png") || name.starts_with('.')) continue;
    struct stat status {};
    if (::fstatat(::dirfd(directory.get()), entry->d_name, &status, 0) != 0 || !S_ISREG(status.st_mode)) continue;
    files.push_back(
        {std::string(name), fmt::format("{}/{}", folder, name), static_cast<std::uint64_t>(status.st_size)});
  }
}

}  // namespace

std::vector<ImageFile> find_image_files(const std::string& root) {
  std::vector<ImageFile> files;
  try {
    for (const std::string& folder : image_folders(root)) add_folder(folder, files);
  } catch (const fs::filesystem_error& error) {
    throw DataError(fmt::format("cannot read data set '{}': {}", root, error.code().message()));
  }
  std::stable_sort(files.begin(), files.end(), [](const ImageFile& a, const ImageFile& b) { return a.name < b.name; });
  const auto same = [](const ImageFile& a, const ImageFile& b) { return a.name == b.name; };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

}  // namespace chexbench::data
