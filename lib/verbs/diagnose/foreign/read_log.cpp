#include "verbs/diagnose/foreign/read_log.hpp"

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
#include "storage/store.hpp"
#include "verbs/diagnose/foreign/json_logs.hpp"
#include "verbs/diagnose/foreign/streamed_json.hpp"
#include "verbs/diagnose/foreign/trace_logs.hpp"

namespace chexbench::verbs {
namespace {

using foreign::ByteReader;
using foreign::Place;
using foreign::Scalar;

constexpr double kMostNanoseconds = 1e20;  // since 1970: some millennia
constexpr std::size_t kHead = 4096;        // a file must not begin with this many blank bytes

struct Packed {
  std::string_view magic;
  const char* what;
  const char* command;
};
constexpr Packed kPacked[] = {{"\x1f\x8b", "compressed, and no file", "gunzip -c LOG"},
                              {"PK\x03\x04", "a ZIP file", "unzip -p LOG"},
                              {"\xfd"
                               "7zXZ",
                               "compressed by xz", "xz -dc LOG"},
                              {"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc LOG"},
                              {"BZh", "compressed by bzip2", "bzip2 -dc LOG"}};

// Passes each value to all formats, because only the whole file determines which one it is.
class AllFormats : public foreign::Visitor {
 public:
  void value(const Place& place, const Scalar& value) override {
    events_.value(place, value);
    traceml_.value(place, value);
    dlio_.value(place, value);
    if (place.is({"distributedInfo", "rank"})) kineto_.set_rank(place.whole_number(value, foreign::kMostRank));
    if (place.is({"baseTimeNanoseconds"})) kineto_.set_base(place.number(value, kMostNanoseconds) / 1e3);
  }
  void closed(const Place& place) override {
    events_.closed(place);
    traceml_.closed(place);
  }

  StepLog finish(const std::string& name) {
    if (kineto_.recognized()) return kineto_.finish(name);
    if (horovod_.recognized()) return horovod_.finish(name);
    if (traceml_.recognized()) return traceml_.finish(name);
    if (dlio_.recognized()) return dlio_.finish(name);
    if (events_.seen()) {
      throw DataError(name +
                      ": a trace without steps: neither ProfilerStep# and DataLoader __next__ of torch.profiler, nor "
                      "NEGOTIATE_ALLREDUCE of Horovod; record the loop over the DataLoader, with prof.step() after "
                      "each step");
    }
    throw DataError(name +
                    ": JSON, but no step log that is known: a final_summary.json of TraceML, a trace of "
                    "torch.profiler, a timeline of Horovod, or DLIO's N_output.json or summary.json");
  }

 private:
  foreign::KinetoSteps kineto_;
  foreign::HorovodSteps horovod_;
  foreign::TraceEvents events_{[this](const Place& place, const foreign::TraceEvent& event) {
    kineto_.take(place, event);
    horovod_.take(place, event);
  }};
  foreign::TraceMlSummary traceml_;
  foreign::DlioOutput dlio_;
};

bool is_json(const std::string& head) {
  const std::size_t text = head.starts_with("\xef\xbb\xbf") ? 3 : 0;
  const std::size_t first = head.find_first_not_of(" \t\r\n", text);
  return first != std::string::npos && (head[first] == '{' || head[first] == '[');
}

constexpr std::size_t kMagicBytes = 2;
constexpr const char* kGzipMagic = "\x1f\x8b";

struct CloseLog {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// A plain file whose first bytes can be peeked at.
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
  std::string head_;  // read but not given
};

foreign::Fill fill_from_gzip(const std::string& path) {
  auto packed = storage::local_store()->stream(path, {});
  storage::SharedBytes head = packed->take(kMagicBytes);
  const std::shared_ptr<storage::ByteStream> stream = formats::inflate_stream(std::move(packed), std::move(head));
  return [stream](char* to, std::size_t size) {
    const storage::SharedBytes next = stream->take(size);
    std::memcpy(to, next.bytes.data(), next.bytes.size());
    return next.bytes.size();
  };
}

// Returns a Fill for the bytes of the file, inflated if it begins like a GZIP file. A pipe is passed unchanged.
// @throws DataError, here and when it is called, if the file cannot be read or is damaged
foreign::Fill fill_from_file(const std::string& path) {
  const auto file = std::make_shared<PlainFile>(path);
  std::error_code error;  // ignored: anything but a regular file is read unchanged
  if (file->head() == kGzipMagic && std::filesystem::is_regular_file(path, error)) return fill_from_gzip(path);
  return [file](char* to, std::size_t size) { return file->give(to, size); };
}

}  // namespace

StepLog read_step_log(ByteReader& reader) {
  const std::string head = reader.head(kHead);
  for (const Packed& packed : kPacked) {
    if (!head.starts_with(packed.magic)) continue;
    throw DataError(fmt::format("{}: it is {}; unpack it first: {} | chexbench diagnose /dev/stdin", reader.name(),
                                packed.what, packed.command));
  }
  if (!is_json(head)) return {.steps = step_log_from_csv(reader.rest(), reader.name())};
  AllFormats formats;
  foreign::walk_json(reader, formats);
  return formats.finish(reader.name());
}

StepLog read_step_log(const std::string& path) {
  ByteReader reader(fill_from_file(path), path);
  return read_step_log(reader);
}

}  // namespace chexbench::verbs
