#include "verbs/diagnose/foreign/log_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/errors.hpp"
#include "formats/inflated_stream.hpp"
#include "storage/local_store.hpp"

namespace chexbench::verbs::foreign {
namespace {

constexpr std::size_t kMagicBytes = 2;
constexpr const char* kGzipMagic = "\x1f\x8b";

struct CloseLog {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// A file as it is, of which the first bytes can be seen before they are given.
class PlainFile {
 public:
  explicit PlainFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rbe")) {
    if (!file_) fail();
    head_.resize(kMagicBytes);
    head_.resize(read(head_.data(), kMagicBytes));
  }
  const std::string& head() const { return head_; }

  std::size_t give(char* to, std::size_t size) {
    const std::size_t had = std::exchange(head_, {}).copy(to, size);
    return had < size ? had + read(to + had, size - had) : had;
  }

 private:
  [[noreturn]] void fail() const { throw DataError(fmt::format("cannot read {}: {}", path_, std::strerror(errno))); }
  std::size_t read(char* to, std::size_t size) {
    const std::size_t got = std::fread(to, 1, size, file_.get());
    if (got == 0 && std::ferror(file_.get()) != 0) fail();
    return got;
  }

  std::string path_;
  std::unique_ptr<std::FILE, CloseLog> file_;
  std::string head_;  // what was read and not given
};

Fill fill_from_gzip(const std::string& path) {
  auto packed = storage::local_store()->stream(path, {});
  storage::SharedBytes head = packed->take(kMagicBytes);
  const std::shared_ptr<storage::ByteStream> stream = formats::inflate_stream(std::move(packed), std::move(head));
  return [stream](char* to, std::size_t size) {
    const storage::SharedBytes next = stream->take(size);
    std::memcpy(to, next.bytes.data(), next.bytes.size());
    return next.bytes.size();
  };
}

}  // namespace

Fill fill_from_file(const std::string& path) {
  const auto file = std::make_shared<PlainFile>(path);
  std::error_code error;  // ignored: what is no regular file is read as it is
  if (file->head() == kGzipMagic && std::filesystem::is_regular_file(path, error)) return fill_from_gzip(path);
  return [file](char* to, std::size_t size) { return file->give(to, size); };
}

}  // namespace chexbench::verbs::foreign
