#include <curl/curl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <span>
#include <string_view>
#include <utility>

#include "core/clock.hpp"
#include "core/numbers.hpp"
#include "storage/http/curl_parts.hpp"
#include "storage/http/http_headers.hpp"
#include "storage/http/http_line.hpp"
#include "storage/socket_wait.hpp"

namespace chexbench::storage {
namespace {

constexpr std::size_t kHeadBytes = 4096;                  // received at once until the head of an answer is complete
constexpr std::size_t kMostHeadBytes = 64 * 1024;         // of an answer that is read here
constexpr std::size_t kWakeBytes = std::size_t{1} << 20;  // so many wake a thread that waits for more
constexpr long kLineBytes = 512 * 1024;                   // the most that libcurl receives or decrypts at once
constexpr double kNoteS = 1;
constexpr std::string_view kSchemeEnd = "://";

// The text of a request, as libcurl writes it. Empty if the URL is not as plain as those of objects that stores make.
std::string text_of(const HttpRequest& request) {
  const std::string_view url = request.url;
  const std::size_t scheme = url.find(kSchemeEnd);
  const bool is_plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c <= '~' && c != '@' && c != '#'; });
  if (scheme == std::string_view::npos || !is_plain) return {};
  const std::string_view rest = url.substr(scheme + kSchemeEnd.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return {};
  std::string text = fmt::format("GET {} HTTP/1.1\r\n", rest.substr(slash));
  const bool has_host = std::ranges::any_of(
      request.headers, [](const std::string& header) { return !header_value(header, "host").empty(); });
  if (!has_host) text += fmt::format("Host: {}\r\n", rest.substr(0, slash));
  text += "User-Agent: chexbench\r\nAccept: */*\r\n";
  for (const std::string& header : request.headers) text.append(header).append("\r\n");
  return text + "\r\n";
}

// The seconds from now on that Retry-After means, which is a number or a date.
std::optional<double> seconds_of(std::string_view retry_after) {
  if (const auto seconds = parse_number<std::uint32_t>(retry_after)) return *seconds;
  const std::time_t date = curl_getdate(std::string(retry_after).c_str(), nullptr);
  const double left_s = std::difftime(date, std::time(nullptr));
  return date < 0 || left_s < 0 ? std::nullopt : std::optional(left_s);
}

// What libcurl asks while it connects.
struct Connecting {
  const HttpRequest& request;
  const std::function<bool()>& ends;
  double begin_s = now_s();
};

int on_connecting(void* connecting, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const Connecting& of = *static_cast<const Connecting*>(connecting);
  if (of.request.note_wait) of.request.note_wait(now_s() - of.begin_s);
  return of.ends() ? 1 : 0;
}

// Thrown by the parts of a request to end it.
struct Failure {
  std::string reason;
};

class CurlLine final : public HttpLine {
 public:
  CurlLine(CurlHandle handle, curl_socket_t socket, bool is_plain)
      : handle_(std::move(handle)), socket_(socket), is_plain_(is_plain) {}

  std::optional<HttpReply> get(const HttpRequest& request, const std::function<bool()>& ends) override;
  bool answers_otherwise() const override { return !head_.empty() && !is_error_; }
  // A server sends nothing that nobody asked for, so whatever can be received is the end of the connection.
  bool is_open() const override {
    pollfd socket{socket_, POLLIN, 0};
    return is_reusable_ && ::poll(&socket, 1, 0) == 0;
  }

 private:
  bool send(std::string_view text);
  // Receives at least one byte, and returns how many; 0 at the end of the connection. `left` are missing in all.
  std::size_t receive(std::span<std::byte> into, std::size_t left);
  void wait(short events, std::size_t left);
  // Receives the head of the answer, and the first bytes behind it. Returns an empty one if it is none that can be
  // used.
  AnswerHead take_head(HttpReply& reply);
  // What has come behind the head.
  std::string_view first_bytes() const { return std::string_view(head_).substr(head_bytes_); }
  void take_body(RangePieces& pieces, std::size_t bytes);
  // Receives the text of an error as far as it is wanted.
  void take_error(const AnswerHead& head, HttpReply& reply);

  const CurlHandle handle_;
  const curl_socket_t socket_;
  const bool is_plain_;
  bool is_reusable_ = true;
  std::string head_;  // and what came with it
  std::size_t head_bytes_ = 0;
  bool is_error_ = false;  // what the head says
  // Of the request in flight.
  const HttpRequest* request_ = nullptr;
  std::optional<SocketWait> wait_;
  double begin_s_ = 0, noted_s_ = 0;
};

std::optional<HttpReply> CurlLine::get(const HttpRequest& request, const std::function<bool()>& ends) {
  request_ = &request;
  const RetryPolicy& limits = request.limits;
  wait_.emplace(socket_, SocketLimits{limits.timeout_s, limits.whole_try_s(), ends});
  begin_s_ = noted_s_ = now_s();
  is_reusable_ = false;  // until the answer is complete
  head_.clear();
  is_error_ = false;
  const std::string text = text_of(request);
  HttpReply reply;
  try {
    if (text.empty() || !send(text)) return {};
    const AnswerHead head = take_head(reply);
    if (head.is_error) {
      take_error(head, reply);
      return reply;
    }
    const auto rest = std::as_bytes(std::span(first_bytes()));
    if (!head.is_plain || rest.size() > *reply.length) return {};
    reply.failure = request.into->begin(reply);
    if (!reply.failure.empty()) return reply;
    request.into->pieces().append(rest);
    take_body(request.into->pieces(), *reply.length - rest.size());
    wait_.reset();
  } catch (const Failure& failure) {
    is_reusable_ = false;
    reply.failure = failure.reason;
    reply.is_temporary = true;
  }
  return reply;
}

bool CurlLine::send(std::string_view text) {
  while (!text.empty()) {
    std::size_t sent = 0;
    const CURLcode code = curl_easy_send(handle_.get(), text.data(), text.size(), &sent);
    if (code == CURLE_AGAIN) wait(POLLOUT, 0);
    if (code != CURLE_OK && code != CURLE_AGAIN) return false;
    text.remove_prefix(sent);
  }
  return true;
}

std::size_t CurlLine::receive(std::span<std::byte> into, std::size_t left) {
  while (true) {
    std::size_t got = 0;
    const CURLcode code = curl_easy_recv(handle_.get(), into.data(), into.size(), &got);
    if (code == CURLE_OK) {
      wait_->count(got);
      return got;
    }
    if (code != CURLE_AGAIN) throw Failure{curl_easy_strerror(code)};
    wait(POLLIN, left);
  }
}

// Only of a plain connection is all that has come behind the socket: what comes encrypted, libcurl receives itself.
void CurlLine::wait(short events, std::size_t left) {
  std::string failure = wait_->wait(events, is_plain_ ? std::min(left, kWakeBytes) : 1);
  if (!failure.empty()) throw Failure{std::move(failure)};
  const double time_s = now_s();
  if (!request_->note_wait || time_s < noted_s_ + kNoteS) return;
  noted_s_ = time_s;
  request_->note_wait(time_s - begin_s_);
}

AnswerHead CurlLine::take_head(HttpReply& reply) {
  for (head_bytes_ = 0; head_bytes_ == 0;) {
    const std::size_t before = head_.size();
    if (before > kMostHeadBytes) return {};
    head_.resize(before + kHeadBytes);
    const std::size_t got = receive(std::as_writable_bytes(std::span(head_)).subspan(before), 1);
    head_.resize(before + got);
    if (got == 0) return {};
    const std::size_t end = head_.find("\r\n\r\n", before - std::min<std::size_t>(before, 3));
    if (end != std::string::npos) head_bytes_ = end + 4;
  }
  const AnswerHead head = read_head(std::string_view(head_).substr(0, head_bytes_), reply);
  is_reusable_ = head.is_reusable && head.is_plain;
  is_error_ = reply.status >= kFirstError;
  return head;
}

void CurlLine::take_body(RangePieces& pieces, std::size_t bytes) {
  while (bytes > 0) {
    const std::span<std::byte> room = pieces.room();
    const std::size_t got = receive(room.first(std::min(room.size(), bytes)), bytes);
    if (got == 0) throw Failure{fmt::format("transfer closed with {} bytes remaining to read", bytes)};
    pieces.add(got);
    bytes -= got;
  }
}

void CurlLine::take_error(const AnswerHead& head, HttpReply& reply) {
  std::string body(first_bytes());
  const auto read = [&]() -> ChunkedText {
    if (head.is_in_chunks) return read_chunks(body);
    return {.content = body.substr(0, *reply.length), .is_complete = body.size() >= *reply.length};
  };
  ChunkedText text = read();
  while (!text.is_complete && !text.is_broken && body.size() < kMostErrorBodyBytes) {
    const std::size_t before = body.size();
    body.resize(before + kHeadBytes);
    const std::size_t got = receive(std::as_writable_bytes(std::span(body)).subspan(before), 1);
    body.resize(before + got);
    if (got == 0) break;
    text = read();
  }
  is_reusable_ = head.is_reusable && text.is_complete;
  reply.error_text = std::move(text.content);
  reply.error_text.resize(std::min(reply.error_text.size(), kMostErrorBytes));
  reply.retry_after_s = seconds_of(header_of(std::string_view(head_).substr(0, head_bytes_), "retry-after"));
  wait_.reset();
}

}  // namespace

std::unique_ptr<HttpLine> connect_line(const HttpRequest& request, const std::string& ca_file,
                                       const std::function<bool()>& ends, ConnectFailure& failure) {
  Connecting connecting{.request = request, .ends = ends};
  CurlHandle handle(curl_easy_init());
  if (!handle) return nullptr;
  set_connection(handle.get(), request.url, request.limits, ca_file);
  curl_easy_setopt(handle.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_BUFFERSIZE, kLineBytes);
  curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFOFUNCTION, &on_connecting);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFODATA, &connecting);
  std::array<char, CURL_ERROR_SIZE> reason{};
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, reason.data());
  if (const CURLcode code = curl_easy_perform(handle.get()); code != CURLE_OK) {
    failure = {.curl_code = code, .reason = reason.data()};
    return nullptr;
  }
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, nullptr);
  curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 1L);  // the line outlives what it would ask
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(handle.get(), CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK || socket == CURL_SOCKET_BAD) {
    return nullptr;
  }
  return std::make_unique<CurlLine>(std::move(handle), socket, request.url.starts_with("http://"));
}

}  // namespace chexbench::storage
