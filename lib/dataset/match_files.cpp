#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

std::string_view without_ending(std::string_view name) { return name.substr(0, name.rfind('.')); }
std::string_view without_folder(std::string_view name) { return name.substr(name.rfind('/') + 1); }
std::string_view bare(std::string_view name) { return without_ending(without_folder(name)); }
std::string_view whole(std::string_view name) { return name; }

// Finds files by one form of their names.
class NameTable {
 public:
  NameTable(const std::vector<ImageFile>& files, std::string_view (*form)(std::string_view)) : files_(files) {
    for (std::size_t i = 0; i < files.size(); ++i) entries_.push_back({form(files[i].name), i});
    std::ranges::stable_sort(entries_, {}, &Entry::name);
  }

  // @throws DataError if two files have the name in this form
  std::optional<std::size_t> find(const std::string& name, const std::string& table) const {
    const auto found = std::ranges::lower_bound(entries_, std::string_view(name), {}, &Entry::name);
    if (found == entries_.end() || found->name != name) return std::nullopt;
    const auto next = found + 1;
    if (next != entries_.end() && next->name == name) {
      throw DataError(fmt::format("{}: image '{}' could be {} or {}: name it with its folder and ending", table,
                                  printable(name), files_[found->file].path, files_[next->file].path));
    }
    return found->file;
  }

 private:
  struct Entry {
    std::string_view name;
    std::size_t file;
  };
  const std::vector<ImageFile>& files_;
  std::vector<Entry> entries_;
};

// Finds files by the four forms of their names. A table is made when it is first needed, because most label tables name
// their files in one form.
class Finder {
 public:
  Finder(const std::vector<ImageFile>& files, const std::string& table) : files_(files), table_(table) {}

  std::optional<std::size_t> find(const std::string& name) {
    constexpr std::array kForms = {whole, without_ending, without_folder, bare};
    for (std::size_t i = 0; i < kForms.size(); ++i) {
      if (!tables_[i]) tables_[i].emplace(files_, kForms[i]);
      if (const auto file = tables_[i]->find(name, table_)) return file;
    }
    return std::nullopt;
  }

 private:
  const std::vector<ImageFile>& files_;
  const std::string& table_;
  std::array<std::optional<NameTable>, 4> tables_;
};

}  // namespace

std::vector<ImageFile> match_files(const Index& index, const std::vector<ImageFile>& files) {
  Finder finder(files, index.table);
  std::vector<ImageFile> matched;
  std::vector<bool> meant(files.size());
  for (const IndexRow& row : index.rows) {
    const auto file = finder.find(row.name);
    if (!file) continue;
    if (meant[*file]) {
      throw DataError(fmt::format("{}: two rows mean the image {}, the second of them as '{}': keep one of the rows",
                                  index.table, files[*file].path, printable(row.name)));
    }
    meant[*file] = true;
    matched.push_back({row.name, files[*file].path, files[*file].bytes});
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!meant[i]) matched.push_back(files[i]);
  }
  std::ranges::sort(matched, {}, &ImageFile::name);
  return matched;
}

}  // namespace chexbench::dataset
