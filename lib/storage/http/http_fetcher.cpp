#include "storage/http/http_fetcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/numbers.hpp"
#include "storage/file_bytes.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {
namespace {

constexpr double kMostRetryAfterS = 30;  // the longest wait, even if the server asks for more
constexpr double kLongWaitS = 9.5;       // that the user is warned of; just below 10 because notes come once a second
constexpr int kNotFound = 404;

bool is_temporary(int status) {
  constexpr std::array kTemporary{408, 425, 429, 500, 502, 503, 504};
  return std::ranges::find(kTemporary, status) != kTemporary.end();
}

// "bytes 0-99/1234" -> {0, 99, 1234}; std::nullopt for anything else.
std::optional<std::array<std::uint64_t, 3>> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return {};
  std::array<std::uint64_t, 3> numbers{};
  std::string_view rest = text.substr(kUnit.size());
  for (const char* separator = "-/"; std::uint64_t & number : numbers) {
    const auto taken = take_number<std::uint64_t>(rest);
    if (!taken || (*separator == '\0' ? !rest.empty() : !rest.starts_with(*separator))) return {};
    number = *taken;
    if (*separator != '\0') rest.remove_prefix(1), ++separator;
  }
  return numbers;
}

DataError cannot_read(const HttpTarget& target, const std::string& reason) {
  return DataError(fmt::format("cannot read {}: {}", target.path, reason));
}

// Accepts exactly the bytes from `first` on that fill `pieces`.
class RangeSink {
 public:
  RangeSink(std::uint64_t first, RangePieces& pieces) : first_(first), pieces_(pieces) {}

  std::string operator()(const HttpReply& reply, std::span<const std::byte> piece) {
    if (piece.empty()) return {};  // libcurl may pass an empty piece without an address
    if (pieces_.filled() == 0) {
      if (std::string refusal = begin(reply); !refusal.empty()) return refusal;
    }
    if (piece.size() > pieces_.size() - pieces_.filled()) return kTooMany;
    pieces_.append(piece);
    return {};
  }
  std::uint64_t size() const { return size_; }  // of the whole object

 private:
  static constexpr const char* kTooMany = "the server sends more bytes than it was asked for";

  std::string begin(const HttpReply& reply) {
    if (reply.status != kPartialContent) {
      return "the server sends whole files where a range of bytes is asked for: shards need a server that knows ranges";
    }
    const auto range = parse_content_range(reply.content_range);
    const std::uint64_t last = first_ + pieces_.size() - 1;
    if (!range || (*range)[0] != first_ || (*range)[1] != last) {
      return fmt::format("asked for bytes {}-{}, the server sends '{}'", first_, last, shown(reply.content_range));
    }
    if (reply.length.value_or(0) > pieces_.size()) return kTooMany;
    size_ = (*range)[2];
    return {};
  }

  const std::uint64_t first_;
  RangePieces& pieces_;
  std::uint64_t size_ = 0;
};

std::string too_long(std::uint64_t most_bytes) {
  return fmt::format("the server sends more than {} bytes, which is too much to be read as a whole", most_bytes);
}

// Collects a body, which may be of any size up to its limit. Memory grows with what arrives if the server does not
// announce the size, or announces more than kMostTrustedBytes, which may be false.
class BodySink {
 public:
  // `check` throws if an announced size is not the expected one.
  BodySink(ByteBuffer& buffer, std::function<void(const HttpReply& reply)> check)
      : buffer_(buffer), check_(std::move(check)) {}

  // Discards the bytes received so far. The object must have `known_bytes`.
  void clear(std::optional<std::uint64_t> known_bytes) {
    known_bytes_ = known_bytes;
    filled_ = 0;
  }

  std::string operator()(const HttpReply& reply, std::span<const std::byte> piece) {
    if (piece.empty()) return {};
    if (filled_ == 0) {
      check_(reply);
      const std::optional<std::uint64_t> announced = known_bytes_ ? known_bytes_ : reply.length;
      most_ = std::min(announced.value_or(kMostUnannouncedBytes), kMostObjectBytes);
      if (announced.value_or(0) > kMostObjectBytes) return too_long(kMostObjectBytes);
      buffer_.reserve(std::max<std::size_t>(std::min(announced.value_or(0), kMostTrustedBytes), piece.size()));
    }
    if (piece.size() > most_ - filled_) {
      return known_bytes_ ? fmt::format("it had {} bytes, and the server sends more now", *known_bytes_)
                          : too_long(most_);
    }
    std::memcpy(room_behind(buffer_, filled_, piece.size(), most_), piece.data(), piece.size());
    filled_ += piece.size();
    return {};
  }
  std::size_t filled() const { return filled_; }

 private:
  ByteBuffer& buffer_;
  const std::function<void(const HttpReply& reply)> check_;
  std::optional<std::uint64_t> known_bytes_;
  std::uint64_t most_ = 0;
  std::size_t filled_ = 0;
};

// Returns true if the object was compressed for the transfer. A file named .gz is compressed itself.
bool is_compressed_on_the_way(const HttpTarget& target, const HttpReply& reply) {
  constexpr std::array<std::string_view, 6> kCompressions{"gzip", "x-gzip", "deflate", "br", "zstd", "compress"};
  return std::ranges::find(kCompressions, reply.content_encoding) != kCompressions.end() &&
         !target.path.ends_with(".gz");
}

}  // namespace

HttpFetcher::HttpFetcher(std::unique_ptr<HttpClient> client, const HttpDialect& dialect, const RetryPolicy& policy,
                         const std::string& name)
    : client_(std::move(client)), dialect_(dialect), policy_(policy), notes_(name) {}

HttpReply HttpFetcher::try_once(const Ask& ask, const HttpClient::Sink& sink) {
  HttpRequest request = dialect_.request(ask.target.url, ask.range, ask.head_only);
  request.limits = policy_;
  request.wanted = ask.wanted;
  request.note_wait = [&](double waited_s) {
    if (waited_s > kLongWaitS) notes_.tell_wait(ask.target.path, waited_s, now_s());
  };
  HttpReply reply = client_->perform(request, sink);
  throw_if_interrupted();
  const bool is_success = reply.status >= 200 && reply.status < 300;
  if (is_success && is_compressed_on_the_way(ask.target, reply)) {
    reply.failure = fmt::format("the server sends it compressed ({}), though nothing asked for that: turn it off there",
                                shown(reply.content_encoding));
    reply.is_temporary = false;
  }
  if (reply.status == 0 || is_success || (reply.status == kNotFound && ask.may_be_absent)) return reply;
  const std::string reason = dialect_.reason(reply);
  reply.failure = fmt::format("the server says {}{}{}", reply.status, reason.empty() ? "" : ", ", reason);
  reply.is_temporary = is_temporary(reply.status);
  return reply;
}

HttpReply HttpFetcher::ask(const Ask& ask, const std::function<HttpClient::Sink()>& new_sink) {
  for (int tried = 1;; ++tried) {
    HttpReply reply = try_once(ask, new_sink());
    if (ask.wanted && !ask.wanted()) return reply;
    if (reply.failure.empty()) return reply;
    const bool ends = !reply.is_temporary || tried >= policy_.tries || client_->is_cancelled();
    if (ends) {
      const std::string times = tried == 1 ? "" : fmt::format(" ({} tries)", tried);
      throw cannot_read(ask.target, reply.failure + times);
    }
    notes_.tell_retry(ask.target.path, reply.failure, tried + 1, policy_.tries, now_s());
    pause_before(policy_, tried, std::min(reply.retry_after_s.value_or(0), kMostRetryAfterS),
                 [this] { return client_->is_cancelled(); });
  }
}

void HttpFetcher::check_version(const HttpTarget& target, const HttpReply& reply, std::optional<std::uint64_t> bytes) {
  known_.check(target.path, {bytes, reply.etag.empty() ? reply.last_modified : reply.etag});
}

std::optional<std::uint64_t> HttpFetcher::size(const HttpTarget& target) {
  if (const auto bytes = known_.bytes(target.path)) return bytes;
  const HttpReply reply = ask({.target = target, .range = {}, .head_only = true, .may_be_absent = true}, [] {
    return [](const HttpReply&, std::span<const std::byte>) { return std::string(); };
  });
  if (reply.status == kNotFound) return {};
  if (!reply.length) throw cannot_read(target, "the server does not say how many bytes it has");
  check_version(target, reply, reply.length);
  return reply.length;
}

std::span<const std::byte> HttpFetcher::read(const HttpTarget& target, ByteBuffer& buffer) {
  BodySink sink(buffer, [&](const HttpReply& answer) { check_version(target, answer, answer.length); });
  const HttpReply reply = ask({.target = target, .range = {}}, [&] {
    sink.clear(known_.bytes(target.path));
    return [&sink](const HttpReply& answer, std::span<const std::byte> piece) { return sink(answer, piece); };
  });
  if (reply.length && *reply.length != sink.filled()) {
    throw cannot_read(target, fmt::format("the server promised {} bytes and sent {}", *reply.length, sink.filled()));
  }
  check_version(target, reply, sink.filled());
  return {buffer.reserve(0), sink.filled()};
}

std::optional<std::string> HttpFetcher::read_listing(const HttpTarget& target, std::uint64_t most_bytes,
                                                     bool may_be_absent) {
  std::string text;
  const HttpReply reply = ask({.target = target, .range = {}, .may_be_absent = may_be_absent}, [&] {
    text.clear();
    return [&text, most_bytes](const HttpReply&, std::span<const std::byte> piece) {
      if (piece.size() > most_bytes - text.size()) {
        return fmt::format("the server lists it in more than {} bytes, which is too much", most_bytes);
      }
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return std::string();
    };
  });
  if (reply.status == kNotFound) return {};
  return text;
}

void HttpFetcher::read_range(const HttpTarget& target, std::uint64_t first, RangePieces& pieces,
                             const std::function<bool()>& wanted) {
  RangeSink sink(first, pieces);
  const std::string range = fmt::format("bytes={}-{}", first, first + pieces.size() - 1);
  const HttpReply reply = ask({.target = target, .range = range, .wanted = wanted}, [&] {
    pieces.clear();
    return [&sink](const HttpReply& answer, std::span<const std::byte> piece) { return sink(answer, piece); };
  });
  if (!wanted()) return;
  if (pieces.filled() != pieces.size()) {
    throw cannot_read(target,
                      fmt::format("asked for {}, the server sends {} of {}", range, pieces.filled(), pieces.size()));
  }
  check_version(target, reply, sink.size());
}

}  // namespace chexbench::storage
