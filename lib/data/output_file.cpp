#include "data/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::data {

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw OutputError(fmt::format("cannot make folder {}: {}", path, error.message()));
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  const std::filesystem::path target(path_);
  temporary_ = target.parent_path() / fmt::format(".{}.tmp-{}", target.filename().string(), ::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("create");
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* action) const {
  throw OutputError(fmt::format("cannot {} {}: {}", action, path_, std::strerror(errno)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    written_ += static_cast<std::uint64_t>(done);
  }
}

void OutputFile::commit(Durability durability) {
  if (durability == Durability::synced && ::fsync(descriptor_) != 0) fail("write");
  // Some file systems tell only here that the disk is full.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename a temporary file to");
  temporary_.clear();
}

}  // namespace chexbench::data
