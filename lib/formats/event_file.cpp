#include "formats/event_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/errors.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "formats/tfrecord.hpp"
#include "formats/wire.hpp"

namespace chexbench::formats {
namespace {

constexpr std::string_view kVersion = "brain.Event:2";
constexpr int kMostNames = 1000;  // of files that one host began, each a second after the last

// The numbers of the fields.
namespace event {
constexpr std::uint64_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace session {
constexpr std::uint64_t kStatus = 1;
constexpr std::int64_t kStart = 1;
}  // namespace session
namespace summary {
constexpr std::uint64_t kValue = 1, kTag = 1, kSimpleValue = 2;
}

std::vector<std::byte> summary_of(std::span<const Scalar> scalars) {
  std::vector<std::byte> bytes, value;
  for (const Scalar& scalar : scalars) {
    value.clear();
    WireWriter writer(value);
    writer.field(summary::kTag, printable(scalar.tag));
    writer.field(summary::kSimpleValue, static_cast<float>(scalar.value));
    WireWriter(bytes).field(summary::kValue, std::span<const std::byte>(value));
  }
  return bytes;
}

// Opens a file with an unused name. The name begins with the time, or a later second if an earlier file has that name,
// so that files sort in the order in which they were begun.
int open_new(const std::string& folder, const std::string& host, double unix_s, std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = -1;
  for (int later = 0; later < kMostNames && descriptor < 0; ++later) {
    path = fmt::format("{}/events.out.tfevents.{:010}.{}", folder, static_cast<std::int64_t>(unix_s) + later, host);
    descriptor = ::open(path.c_str(), kFlags, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  return descriptor;
}

}  // namespace

std::vector<std::byte> version_event(double unix_s) {
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  writer.field(event::kWallTime, unix_s);
  writer.field(event::kFileVersion, kVersion);
  return bytes;
}

std::vector<std::byte> start_event(double unix_s, std::int64_t step) {
  std::vector<std::byte> log, bytes;
  WireWriter(log).field(session::kStatus, session::kStart);
  WireWriter writer(bytes);
  writer.field(event::kWallTime, unix_s);
  writer.field(event::kStep, step);
  writer.field(event::kSessionLog, std::span<const std::byte>(log));
  return bytes;
}

std::vector<std::byte> scalars_event(double unix_s, std::int64_t step, std::span<const Scalar> scalars) {
  std::vector<std::byte> bytes;
  WireWriter writer(bytes);
  writer.field(event::kWallTime, unix_s);
  writer.field(event::kStep, step);
  writer.field(event::kSummary, std::span<const std::byte>(summary_of(scalars)));
  return bytes;
}

EventFile::EventFile(const std::string& folder, const std::string& host, double unix_s, std::int64_t first_step) {
  make_folder(folder);
  descriptor_ = open_new(folder, host, unix_s, path_);
  if (descriptor_ < 0) fail("create");
  append(version_event(unix_s));
  append(start_event(unix_s, first_step));
  try {
    sync();
    sync_folder_of(path_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

EventFile::~EventFile() { ::close(descriptor_); }

// A partly written record would hide everything after it from readers. Unlike write_failure(), the message does not
// advise running again: steps already trained would not be trained again.
void EventFile::fail(const char* action) {
  const int reason = errno;
  pending_.clear();
  if (descriptor_ >= 0 && ::ftruncate(descriptor_, written_) != 0) errno = reason;
  throw OutputError(fmt::format("cannot {} {}: {}", action, path_, std::strerror(reason)));
}

void EventFile::append(std::span<const std::byte> event) {
  const TfRecordFrame frame = frame_record(event);
  pending_.insert(pending_.end(), frame.header.begin(), frame.header.end());
  pending_.insert(pending_.end(), event.begin(), event.end());
  pending_.insert(pending_.end(), frame.footer.begin(), frame.footer.end());
}

void EventFile::add(double unix_s, std::int64_t step, std::span<const Scalar> scalars) {
  append(scalars_event(unix_s, step, scalars));
}

void EventFile::write() {
  std::span<const std::byte> rest = pending_;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write");
    rest = rest.subspan(static_cast<std::size_t>(count));
  }
  written_ += static_cast<std::int64_t>(pending_.size());
  pending_.clear();
}

void EventFile::sync() {
  write();
  if (!sync_descriptor(descriptor_)) fail("write");
}

}  // namespace chexbench::formats
