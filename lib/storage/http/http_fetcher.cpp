#include "storage/http/http_fetcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/numbers.hpp"

namespace chexbench::storage {
namespace {

constexpr double kMostRetryAfterS = 30;  // the longest wait, even if the server asks for more
constexpr std::uint64_t kMostTrustedBytes = 64u << 20;
constexpr int kNotFound = 404;
constexpr int kPartialContent = 206;

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

// Accepts exactly the bytes from `first` on that fill `part`.
class RangeSink {
 public:
  RangeSink(std::uint64_t first, std::span<std::byte> part, const std::function<bool()>& wanted)
      : first_(first), part_(part), wanted_(wanted) {}

  std::string operator()(const HttpReply& reply, std::span<const std::byte> piece) {
    if (!wanted_()) return "nobody waits for it any more";
    if (filled_ == 0) {
      if (reply.status != kPartialContent) {
        return "the server sends whole files where a range of bytes is asked for: shards need a server that knows "
               "ranges";
      }
      const auto range = parse_content_range(reply.content_range);
      const std::uint64_t last = first_ + part_.size() - 1;
      if (!range || (*range)[0] != first_ || (*range)[1] != last) {
        return fmt::format("asked for bytes {}-{}, the server sends '{}'", first_, last, reply.content_range);
      }
      size_ = (*range)[2];
    }
    if (piece.size() > part_.size() - filled_) return "the server sends more bytes than it was asked for";
    std::memcpy(part_.data() + filled_, piece.data(), piece.size());
    filled_ += piece.size();
    return {};
  }
  std::size_t filled() const { return filled_; }
  std::uint64_t size() const { return size_; }  // of the whole object

 private:
  const std::uint64_t first_;
  const std::span<std::byte> part_;
  const std::function<bool()>& wanted_;
  std::size_t filled_ = 0;
  std::uint64_t size_ = 0;
};

// Collects a body of any size. The memory grows with what arrives if the server does not announce the size, or
// announces more than kMostTrustedBytes, which may be a lie.
HttpClient::Sink collect(ByteBuffer& buffer, std::size_t& filled) {
  filled = 0;
  return [&buffer, &filled](const HttpReply& reply, std::span<const std::byte> piece) {
    if (filled == 0)
      buffer.reserve(std::max<std::size_t>(std::min(reply.length.value_or(0), kMostTrustedBytes), piece.size()));
    if (filled + piece.size() > buffer.capacity()) {
      ByteBuffer larger;
      std::memcpy(larger.reserve(2 * (filled + piece.size())), buffer.reserve(filled), filled);
      std::swap(buffer, larger);
    }
    std::memcpy(buffer.reserve(0) + filled, piece.data(), piece.size());
    filled += piece.size();
    return std::string();
  };
}

}  // namespace

HttpFetcher::HttpFetcher(std::unique_ptr<HttpClient> client, const HttpDialect& dialect, const RetryPolicy& policy)
    : client_(std::move(client)), dialect_(dialect), policy_(policy) {}

HttpReply HttpFetcher::try_once(const Ask& ask, const HttpClient::Sink& sink) {
  HttpRequest request = dialect_.request(ask.target.url, ask.range, ask.head_only);
  request.timeout_s = policy_.timeout_s;
  HttpReply reply = client_->perform(request, sink);
  throw_if_interrupted();
  const bool is_success = reply.status >= 200 && reply.status < 300;
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
    log::debug("{}: {}; try {} of {}", ask.target.path, reply.failure, tried + 1, policy_.tries);
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
  std::size_t filled = 0;
  const HttpReply reply = ask({.target = target, .range = {}}, [&] { return collect(buffer, filled); });
  if (reply.length && *reply.length != filled) {
    throw cannot_read(target, fmt::format("the server promised {} bytes and sent {}", *reply.length, filled));
  }
  check_version(target, reply, filled);
  return {buffer.reserve(0), filled};
}

std::string HttpFetcher::read_listing(const HttpTarget& target) { return ask_listing(target, false).value_or(""); }

std::optional<std::string> HttpFetcher::find_listing(const HttpTarget& target) { return ask_listing(target, true); }

std::optional<std::string> HttpFetcher::ask_listing(const HttpTarget& target, bool may_be_absent) {
  std::string text;
  const HttpReply reply = ask({.target = target, .range = {}, .may_be_absent = may_be_absent}, [&] {
    text.clear();
    return [&text](const HttpReply&, std::span<const std::byte> piece) {
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return std::string();
    };
  });
  if (reply.status == kNotFound) return {};
  return text;
}

void HttpFetcher::read_range(const HttpTarget& target, std::uint64_t first, std::span<std::byte> part,
                             const std::function<bool()>& wanted) {
  std::optional<RangeSink> sink;
  const std::string range = fmt::format("bytes={}-{}", first, first + part.size() - 1);
  const HttpReply reply = ask({.target = target, .range = range, .wanted = wanted}, [&] {
    sink.emplace(first, part, wanted);
    return [&sink](const HttpReply& answer, std::span<const std::byte> piece) { return (*sink)(answer, piece); };
  });
  if (!wanted()) return;
  if (sink->filled() != part.size()) {
    throw cannot_read(target,
                      fmt::format("asked for {}, the server sends {} of {}", range, sink->filled(), part.size()));
  }
  check_version(target, reply, sink->size());
}

}  // namespace chexbench::storage
