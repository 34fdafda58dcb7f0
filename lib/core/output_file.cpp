#include "core/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/numbers.hpp"

namespace chexbench {
namespace {

constexpr std::string_view kTemporary = ".tmp-";  // before the number of the process that writes

// The process number at the end of a temporary file's name; 0 if there is none.
pid_t writer_of(std::string_view name) {
  const std::size_t mark = name.rfind(kTemporary);
  if (mark == std::string_view::npos) return 0;
  return std::max(0, parse_number<pid_t>(name.substr(mark + kTemporary.size())).value_or(0));
}

// Whether a name is a descriptor of a process, such as /dev/stdout, which leads to one by links.
bool is_descriptor(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  std::error_code error;
  for (int links = 0; links < kMostLinks; ++links) {
    const std::filesystem::path folder =
        std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
    if (error) return false;
    if (folder.string().starts_with("/proc/")) return true;
    const std::filesystem::path next = std::filesystem::read_symlink(folder / path.filename(), error);
    if (error) return false;
    path = folder / next;
  }
  return false;
}

// Whether the path must be written to in place, not replaced: a device, a pipe, a descriptor.
bool is_no_plain_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) || is_descriptor(path);
}

// Whether a process has ended, but its parent has not collected its exit status.
bool is_zombie(pid_t process) {
  std::string line;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", process)), line);
  const std::size_t name_end = line.rfind(')');  // the name may contain anything
  return name_end != std::string::npos && line.compare(name_end, 3, ") Z") == 0;
}

bool is_gone(pid_t process) { return (::kill(process, 0) != 0 && errno == ESRCH) || is_zombie(process); }

// Opens a new file. An existing file of that name was left by an ended process with this one's number: it is removed,
// like a link that somebody put there, and never written to.
int open_new(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int descriptor = ::open(path.c_str(), kFlags, 0666);
  if (descriptor >= 0 || errno != EEXIST) return descriptor;
  ::unlink(path.c_str());
  return ::open(path.c_str(), kFlags, 0666);
}

// Whether a sync succeeded; a file system without such a call has not failed.
bool is_synced(int result) {
  return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS;
}

}  // namespace

bool sync_descriptor(int descriptor) { return is_synced(::fsync(descriptor)); }

void sync_folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 && errno == EACCES) return;  // it may be writable but not readable
  const bool failed = descriptor < 0 || !sync_descriptor(descriptor);
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (failed)
    throw OutputError(fmt::format("cannot sync the folder {} of {}: {}", folder, path, std::strerror(reason)));
}

void sync_file_system(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  const bool failed = descriptor < 0 || !is_synced(::syncfs(descriptor));
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (failed) throw OutputError(fmt::format("cannot write {}: {}", folder, write_failure(reason)));
}

std::string write_failure(int error_number) {
  std::string reason = std::strerror(error_number);
  if (error_number != ENOSPC && error_number != EDQUOT) return reason;
  return reason + ": free room there, then run the same command again, an experiment with --resume instead of --output";
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::filesystem::path> made;
  for (std::filesystem::path folder = path; !folder.empty() && !std::filesystem::exists(folder, error) && !error;
       folder = folder.parent_path()) {
    made.push_back(folder);
  }
  std::filesystem::create_directories(path, error);
  if (error) throw OutputError(fmt::format("cannot make folder {}: {}", path, error.message()));
  for (const std::filesystem::path& folder : made) sync_folder_of(folder);
}

std::string make_new_folder(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) make_folder(parent.string());
  std::string folder = path;
  for (int number = 2; ::mkdir(folder.c_str(), 0777) != 0; ++number) {
    if (errno != EEXIST) throw OutputError(fmt::format("cannot make folder {}: {}", folder, write_failure(errno)));
    folder = fmt::format("{}-{}", path, number);
  }
  sync_folder_of(folder);
  return folder;
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (is_no_plain_file(path_)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  } else {
    const std::filesystem::path target(path_);
    temporary_ = target.parent_path() / fmt::format(".{}{}{}", target.filename().string(), kTemporary, ::getpid());
    descriptor_ = open_new(temporary_);
  }
  if (descriptor_ < 0) fail("create");
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* action) const {
  throw OutputError(fmt::format("cannot {} {}: {}", action, path_, write_failure(errno)));
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
  const bool synced = durability == Durability::synced;
  if (synced && !sync_descriptor(descriptor_)) fail("write");
  // Some file systems report only here that the disk is full.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename a temporary file to");
  temporary_.clear();
  if (synced) sync_folder_of(path_);
}

void write_file_atomically(const std::string& path, std::string_view text) {
  write_file_atomically(path, [text](const WritePiece& write) { write(text); });
}

void write_file_atomically(const std::string& path, const std::function<void(const WritePiece&)>& fill) {
  OutputFile file(path);
  fill([&file](std::string_view piece) { file.write(piece); });
  file.commit(OutputFile::Durability::synced);
}

void remove_abandoned_files(const std::string& folder, std::string_view prefix) {
  for (const std::string& name : list_folder(folder)) {
    const pid_t writer = writer_of(name);
    if (writer == 0 || !name.starts_with(fmt::format(".{}", prefix)) || !is_gone(writer)) continue;
    ::unlink((std::filesystem::path(folder) / name).c_str());
  }
}

}  // namespace chexbench
