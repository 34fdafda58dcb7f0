#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "dataset/image_files.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

std::string_view without_ending(std::string_view name) { return name.substr(0, name.rfind('.')); }
std::string_view without_folder(std::string_view name) { return name.substr(name.rfind('/') + 1); }
std::string_view bare(std::string_view name) { return without_ending(without_folder(name)); }
std::string_view whole(std::string_view name) { return name; }

// Finds files by one form of their names. Names must be looked up in ascending order, so that one pass over the files
// serves all rows.
class NameTable {
 public:
  NameTable(const std::vector<ImageFile>& files, std::string_view (*form)(std::string_view))
      : files_(files),
        form_(form),
        order_(order_of_names(files.size(), [&](std::size_t i) { return form(files[i].name); })),
        here_(name_at(0)),
        behind_(name_at(1)) {}

  // @throws DataError if two files have the name in this form
  std::optional<std::size_t> find(std::string_view name, const std::string& table) {
    int compared = 1;
    while (next_ < order_.size() && (compared = here_.compare(name)) < 0) {
      ++next_;
      here_ = behind_;
      behind_ = name_at(next_ + 1);
    }
    if (next_ == order_.size() || compared != 0) return std::nullopt;
    if (next_ + 1 < order_.size() && behind_ == name) {
      refuse(name, table, order_[next_], order_[next_ + 1]);
    }
    return order_[next_];
  }

  // The same for a name in any order.
  std::optional<std::size_t> search(std::string_view name, const std::string& table) const {
    const auto found =
        std::ranges::lower_bound(order_, name, {}, [&](std::uint32_t i) { return form_(files_[i].name); });
    const auto has_name = [&](auto place) { return place != order_.end() && form_(files_[*place].name) == name; };
    if (!has_name(found)) return std::nullopt;
    if (has_name(std::next(found))) refuse(name, table, *found, *std::next(found));
    return *found;
  }

 private:
  [[noreturn]] void refuse(std::string_view name, const std::string& table, std::size_t a, std::size_t b) const {
    throw DataError(fmt::format("{}: image '{}' could be {} or {}: name it with its folder and ending", table,
                                printable(name), files_[a].path, files_[b].path));
  }

  std::string_view name_at(std::size_t place) const {
    return place < order_.size() ? form_(files_[order_[place]].name) : std::string_view();
  }

  const std::vector<ImageFile>& files_;
  std::string_view (*const form_)(std::string_view);
  const std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;            // the first position whose name is not before the last one looked up
  std::string_view here_, behind_;  // the names at it and at the next one: each of millions is made once
};

// Finds files by the four forms of their names, looked up in ascending order. A table is made when it is first needed,
// because most label tables use one form.
class Finder {
 public:
  Finder(const std::vector<ImageFile>& files, const std::string& table) : files_(files), table_(table) {}

  std::optional<std::size_t> find(std::string_view name) {
    for (std::size_t i = 0; i < kForms.size(); ++i) {
      if (const auto file = table(i).find(name, table_)) return file;
    }
    return std::nullopt;
  }

  // Finds a file with another ending than the name: by its path or, if the name is not a path, in any folder.
  std::optional<std::size_t> find_other_ending(std::string_view name) {
    if (!is_image_name(name)) return std::nullopt;
    const auto file = table(1).search(without_ending(name), table_);
    return file || name.find('/') != std::string_view::npos ? file : table(3).search(bare(name), table_);
  }

 private:
  static constexpr std::array kForms = {whole, without_ending, without_folder, bare};

  NameTable& table(std::size_t form) {
    if (!tables_[form]) tables_[form].emplace(files_, kForms.at(form));
    return *tables_[form];
  }

  const std::vector<ImageFile>& files_;
  const std::string& table_;
  std::array<std::optional<NameTable>, 4> tables_;
};

}  // namespace

std::vector<ImageFile> match_files(const Index& index, std::vector<ImageFile> files) {
  Finder finder(files, index.table);
  std::vector<const IndexRow*> meant_by(files.size()), without_file;
  for (const IndexRow& row : index.rows) {
    const auto file = finder.find(row.name);
    if (!file) without_file.push_back(&row);
    if (!file) continue;
    if (meant_by[*file] != nullptr) {
      throw DataError(fmt::format("{}: two rows mean the image {}, the second of them as '{}': keep one of the rows",
                                  index.table, files[*file].path, printable(row.name)));
    }
    meant_by[*file] = &row;
  }
  // A set that was converted as a whole has other endings than its table; if some files match, the others are missing.
  if (without_file.size() < index.rows.size()) without_file.clear();
  for (const IndexRow* const row : without_file) {
    const auto file = finder.find_other_ending(row->name);
    if (file && meant_by[*file] == nullptr) meant_by[*file] = row;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (meant_by[i] != nullptr) files[i].name = meant_by[i]->name;
  }
  sort_by_name(files);
  return files;
}

}  // namespace chexbench::dataset
