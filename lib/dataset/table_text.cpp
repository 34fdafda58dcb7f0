#include "dataset/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "formats/inflated_stream.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr std::size_t kGzipHeadBytes = 2;  // of GZIP, by which the format is known

std::string inflate(const storage::Store& store, const std::string& path) {
  std::unique_ptr<storage::ByteStream> packed = store.stream(path, {});
  storage::SharedBytes head = packed->take(std::min<std::uint64_t>(kGzipHeadBytes, packed->size()));
  if (!formats::looks_compressed(head.bytes)) throw DataError(fmt::format("{}: it is no GZIP file", path));
  const auto stream = formats::inflate_stream(std::move(packed), std::move(head));
  std::string text;
  while (true) {
    const storage::SharedBytes piece = stream->take(kPieceBytes);
    text += storage::as_text(piece.bytes);
    if (piece.bytes.size() < kPieceBytes) return text;
    if (text.size() > kMostBytes) throw DataError(fmt::format("{}: a table may have {} bytes", path, kMostBytes));
  }
}

}  // namespace

TableText::TableText(const storage::Store& store, std::string path) : path_(std::move(path)) {
  if (path_.ends_with(".gz")) inflated_ = inflate(store, path_);
  text_ = path_.ends_with(".gz") ? std::string_view(inflated_) : storage::as_text(store.read(path_, buffer_));
}

}  // namespace chexbench::dataset
