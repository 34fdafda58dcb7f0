#include "data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "data/image_files.hpp"
#include "data/index.hpp"
#include "data/shards.hpp"

namespace chexbench::data {
namespace {

ImageEntry entry_of(const IndexRow& row) {
  return {.name = row.name, .path = {}, .labels = row.labels, .patient = row.patient};
}

std::vector<const IndexRow*> rows_of_split(const Index& index, spec::Split split) {
  std::vector<const IndexRow*> rows;
  rows.reserve(index.rows.size());
  for (const IndexRow& row : index.rows) {
    if (row.in(split)) rows.push_back(&row);
  }
  if (!rows.empty()) return rows;
  const bool has_list = split == spec::Split::train ? index.has_train_list : index.has_test_list;
  if (split == spec::Split::all || has_list) {
    throw DataError(fmt::format("split '{}' of '{}' is empty: no row of {} belongs to it", spec::to_string(split),
                                index.root, index.table));
  }
  throw DataError(fmt::format("split '{}' of '{}' is empty: there is no {}; add it, or use data.split = \"all\"",
                              spec::to_string(split), index.root,
                              split == spec::Split::train ? "train_val_list.txt" : "test_list.txt"));
}

// A web server's pages tell no sizes: some files, evenly spread, stand for all of them.
std::uint64_t estimated_bytes(const Store& store, const std::vector<std::string>& paths) {
  constexpr std::size_t kAsked = 32;
  double sum_bytes = 0, asked = 0;
  for (std::size_t i = 0; i < paths.size(); i += (paths.size() + kAsked - 1) / kAsked) {
    const std::optional<std::uint64_t> bytes = store.size(paths[i]);
    if (!bytes) continue;
    sum_bytes += static_cast<double>(*bytes);
    ++asked;
  }
  return asked == 0 ? 0 : static_cast<std::uint64_t>(sum_bytes / asked * static_cast<double>(paths.size()));
}

// The rows that have a file, in the order of names. Both lists are sorted by name.
void add_png_files(const std::vector<const IndexRow*>& rows, const DataRoot& root, const spec::DataSpec& spec,
                   Dataset& dataset) {
  const std::vector<ImageFile> files = find_image_files(root);
  std::vector<std::string> of_unknown_size;
  auto file = files.begin();
  for (const IndexRow* const row : rows) {
    while (file != files.end() && file->name < row->name) ++file;
    if (file == files.end() || file->name != row->name) continue;
    ImageEntry& entry = dataset.images.emplace_back(entry_of(*row));
    entry.path = file->path;
    dataset.total_bytes += file->bytes.value_or(0);
    if (!file->bytes) of_unknown_size.push_back(file->path);
  }
  dataset.total_bytes += estimated_bytes(*root.store, of_unknown_size);
  if (dataset.images.empty()) {
    throw DataError(
        fmt::format("split '{}' of '{}' is empty: it lists {} images, and none of their files is in images/ or "
                    "images_NNN/",
                    spec::to_string(spec.split), spec.root, rows.size()));
  }
  if (dataset.images.size() < rows.size()) {
    log::warning("{}: {} of the {} images of split '{}' have no file and are left out", spec.root,
                 rows.size() - dataset.images.size(), rows.size(), spec::to_string(spec.split));
  }
}

void add_shards(const std::vector<const IndexRow*>& rows, const DataRoot& root, spec::Split split, Dataset& dataset) {
  dataset.shards = find_shards(root, split);
  for (const std::string& shard : dataset.shards) {
    const std::optional<std::uint64_t> bytes = root.store->size(shard);
    if (!bytes) throw DataError(fmt::format("cannot read {}: it is gone", shard));
    dataset.total_bytes += *bytes;
  }
  dataset.images.reserve(rows.size());
  for (const IndexRow* const row : rows) dataset.images.push_back(entry_of(*row));
}

}  // namespace

std::optional<std::uint32_t> find_image(const Dataset& dataset, std::string_view name) {
  const auto found =
      std::lower_bound(dataset.images.begin(), dataset.images.end(), name,
                       [](const ImageEntry& image, std::string_view wanted) { return image.name < wanted; });
  if (found == dataset.images.end() || found->name != name) return std::nullopt;
  return static_cast<std::uint32_t>(found - dataset.images.begin());
}

Dataset open_dataset(const spec::DataSpec& spec) {
  Dataset dataset;
  dataset.format = spec.format;
  if (spec.format == spec::DataFormat::synthetic) return dataset;
  const DataRoot root(spec);
  dataset.store = root.store;
  const Index index = read_index(root);
  const std::vector<const IndexRow*> rows = rows_of_split(index, spec.split);
  if (spec.format == spec::DataFormat::tfrecord) {
    add_shards(rows, root, spec.split, dataset);
  } else {
    add_png_files(rows, root, spec, dataset);
  }
  return dataset;
}

}  // namespace chexbench::data
