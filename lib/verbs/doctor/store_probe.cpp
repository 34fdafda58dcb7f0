#include "verbs/doctor/store_probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "dataset/image_files.hpp"
#include "formats/shards.hpp"

namespace chexbench::verbs {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

// Returns the first shard, or the first image if there is no shard. A shard is preferred, because it is long enough to
// show the bandwidth.
std::string file_to_read(const storage::DataRoot& root) {
  const std::string folder = formats::format_folder(root.path, spec::DataFormat::tfrecord);
  std::string first;
  for (const storage::StoreEntry& entry : root.store->list(folder)) {
    const bool is_shard = entry.kind == storage::StoreEntry::Kind::file && entry.name.find("-of-") != std::string::npos;
    if (is_shard && (first.empty() || entry.name < first)) first = entry.name;
  }
  if (!first.empty()) return fmt::format("{}/{}", folder, first);
  dataset::NameArena names;
  const std::vector<dataset::ImageFile> images = dataset::list_images(*root.store, root.path, names);
  if (images.empty()) throw DataError(fmt::format("no data set at '{}': there is no shard and no image", root.path));
  return std::string(images.front().path);
}

double list_s(const storage::DataRoot& root) {
  const double begin_s = now_s();
  root.store->list(root.path);
  return now_s() - begin_s;
}

}  // namespace

StoreProbe probe_store(const std::string& root_url) {
  const storage::DataRoot root(root_url);
  StoreProbe probe{.root = root.path, .kind = root.path.substr(0, root.path.find("://"))};
  probe.first_request_s = list_s(root);
  probe.next_request_s = list_s(root);
  probe.file = file_to_read(root);
  const double begin_s = now_s();
  const std::unique_ptr<storage::ByteStream> stream = root.store->stream(probe.file, {});
  const std::uint64_t most = std::min(stream->size(), kMostBytes);
  while (probe.read_bytes < most) {
    const std::uint64_t piece = std::min(kPieceBytes, most - probe.read_bytes);
    stream->take(piece);
    probe.read_bytes += piece;
  }
  probe.read_s = now_s() - begin_s;
  return probe;
}

}  // namespace chexbench::verbs
