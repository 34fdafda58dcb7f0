#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "dataset/layouts.hpp"
#include "formats/shards.hpp"
#include "formats/tf_example.hpp"
#include "formats/tfrecord.hpp"

namespace chexbench::dataset {
namespace {

// The most classes that the shards may have if the spec does not say how many there are.
constexpr std::size_t kMostClasses = 100'000;

// Returns the split of a shard, or null for any other file.
bool IndexRow::*split_of_shard(std::string_view name) {
  const auto parts = formats::shard_name_in(name);
  return parts ? split_called(parts->prefix) : nullptr;
}

bool is_shard(const storage::StoreEntry& entry) {
  return entry.kind == storage::StoreEntry::Kind::file && split_of_shard(entry.name) != nullptr;
}

// The folders that may hold the shards: the root, and those in it that are called as a split.
std::vector<std::string> folders_of(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries) {
  std::vector<std::string> folders{root.path};
  for (const storage::StoreEntry& entry : entries) {
    if (entry.kind == storage::StoreEntry::Kind::folder && split_called(entry.name) != nullptr)
      folders.push_back(root.path + "/" + entry.name);
  }
  return folders;
}

// Adds the shards of one folder, in the order of their names. @throws DataError if some of a split are missing
void add_shards(const storage::DataRoot& root, const std::string& folder, Index& index) {
  std::map<std::string, bool IndexRow::*> names;
  std::map<std::string, std::pair<int, int>> counted;  // of each prefix: shards that are there, and that should be
  for (const storage::StoreEntry& entry : root.store->list(folder)) {
    if (!is_shard(entry)) continue;
    const auto parts = formats::shard_name_in(entry.name);
    names.emplace(entry.name, split_called(parts->prefix));
    auto& [there, wanted] = counted.try_emplace(parts->prefix, 0, parts->count).first->second;
    ++there;
    if (parts->count != wanted) {
      throw DataError(fmt::format("{} mixes shards of '{}' of {} and of {}: remove those of one conversion", folder,
                                  parts->prefix, std::min(wanted, parts->count), std::max(wanted, parts->count)));
    }
  }
  for (const auto& [prefix, count] : counted) {
    if (count.first == count.second) continue;
    throw DataError(fmt::format("{} holds {} of the {} shards {}-00000-of-{:05} and so on: copy the others, too",
                                folder, count.first, count.second, prefix, count.second));
  }
  for (const auto& [name, split] : names)
    index.shards.push_back({.split = split, .path = fmt::format("{}/{}", folder, name)});
}

// Adds the rows of one shard, and the names of the classes in it.
void add_rows(const storage::DataRoot& root, const IndexShard& shard, std::size_t most_classes, Index& index,
              std::vector<std::string>& names) {
  formats::TfRecordReader reader(root.store->stream(shard.path, {}));
  reader.leave_data_unchecked();
  while (const auto record = reader.next()) {
    const formats::RecordOrigin origin{.file = shard.path, .offset = record->offset};
    const formats::ExampleView example = formats::parse_example(record->data, origin, most_classes);
    if (has_control_character(example.filename)) {
      throw DataError(fmt::format("{}: record at offset {}: '{}' is not the name of an image file", shard.path,
                                  record->offset, printable(example.filename)));
    }
    IndexRow& row = index.rows.emplace_back();
    row.name = index.names.keep(example.filename);
    row.labels = example.labels;
    row.*shard.split = true;
    example.labels.for_each([&](std::size_t label) {
      if (label >= names.size()) names.resize(label + 1);
      if (names[label].empty() && !has_control_character(example.class_name)) names[label] = example.class_name;
    });
  }
}

}  // namespace

bool has_imagenet_shards(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries) {
  if (std::ranges::any_of(entries, is_shard)) return true;
  for (const std::string& folder : folders_of(root, entries)) {
    if (folder != root.path && std::ranges::any_of(root.store->list(folder), is_shard)) return true;
  }
  return false;
}

Index read_imagenet_layout(const storage::DataRoot& root) {
  Index index;
  index.root = index.table = root.path;
  index.layout = spec::DataLayout::imagenet;
  for (const std::string& folder : folders_of(root, root.store->list(root.path))) add_shards(root, folder, index);
  if (index.shards.empty()) {
    throw DataError(fmt::format(
        "no shards in '{}': data.layout imagenet expects TensorFlow's TFRecords, train-00000-of-01024 and so "
        "on and validation-00000-of-00128, in it or in folders train and validation",
        root.path));
  }
  if (root.store->is_distant()) log::info_once("{}: reads all shards once, as they are their own index", root.path);
  const auto stated = static_cast<std::size_t>(root.labels.classes);
  std::vector<std::string> names;
  for (const IndexShard& shard : index.shards) {
    add_rows(root, shard, stated > 0 ? stated : kMostClasses, index, names);
    note_split(shard.split, index);
  }
  const std::size_t classes = stated > 0 ? stated : names.size();
  index.label_names = class_names(std::move(names), classes);
  sort_rows(index.rows, index.table);
  for (std::size_t i = 0; i < index.rows.size(); ++i) index.rows[i].patient = static_cast<std::uint32_t>(i);
  return index;
}

}  // namespace chexbench::dataset
