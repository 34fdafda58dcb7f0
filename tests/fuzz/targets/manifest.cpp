// A conversion's files: the manifest, and the names of the shards.
#include "formats/manifest.hpp"
#include "formats/shards.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/memory_store.hpp"

namespace chexbench::fuzz {

FUZZ_TARGET(manifest, "formats/manifest.cpp formats/manifest.cpp") {
  const storage::DataRoot root("root", std::make_shared<MemoryStore>(
                                           std::map<std::string, Bytes>{{"root/tfrecord/train-manifest.json", bytes}}));
  const auto read = accepted({ExitCode::data}, [&] { return formats::read_manifest(root, spec::Split::train); });
  if (!read || !*read) return;
  const auto& manifest = *read;
  require(!manifest->label_names || manifest->has_labels(*manifest->label_names), "a manifest differs from itself");
}

// The first line is the text of train-unfinished; each other line is the name of a file in the folder.
FUZZ_TARGET(shard_names, "formats/shards.cpp formats/manifest.cpp") {
  Input input(bytes);
  const unsigned choice = input.byte();
  const auto format = choice % 2 == 0 ? spec::DataFormat::tfrecord : spec::DataFormat::webdataset;
  const std::string folder = formats::format_folder("root", format);
  const std::string unfinished = input.line();
  std::map<std::string, Bytes> files;
  if (choice % 4 >= 2) files.emplace(folder + "/train-unfinished", std::as_bytes(std::span(unfinished)));
  while (!input.rest().empty() && files.size() < 100) {
    const std::string name = input.line();
    if (name.find('/') == std::string::npos) files.emplace(folder + "/" + name, Bytes());
  }
  const std::size_t present = files.size();
  const storage::DataRoot root("root", std::make_shared<MemoryStore>(std::move(files)));
  const auto shards =
      accepted({ExitCode::data}, [&] { return formats::find_shards(root, spec::Split::train, format); });
  if (!shards) return;
  require(!shards->empty() && shards->size() <= present, "a split has other shards than are there");
  for (const std::string& path : *shards) require(root.store->size(path).has_value(), "a shard is not there");
}

}  // namespace chexbench::fuzz
