#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "storage/http/curl_parts.hpp"
#include "storage/http/http_client.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {
namespace {

// libcurl receives into its own buffer, which it allocates for each request, and hands out copies. A buffer of this
// size stays in a core's cache, and has 16 pages to fault in; the maximum of 512 KiB has 128.
constexpr long kReceiveBytes = 64 * 1024;
constexpr std::size_t kMostHeaderBytes = 256 * 1024;  // of one request, in all
constexpr int kMostRedirects = 5;
// Read of the body of an error, so that its connection can be used again.
constexpr std::size_t kMostErrorBodyBytes = 64 * 1024;

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

bool is_success(int status) { return status >= 200 && status < 300; }

// The state of a request in flight.
struct Exchange {
  const HttpClient& client;
  const HttpClient::Sink& sink;
  const HttpRequest& request;
  HttpReply reply = {};
  std::string refusal = {};             // returned by the sink
  std::exception_ptr thrown = nullptr;  // by the sink; it must not pass through libcurl, which is C
  std::size_t header_bytes = 0;
  std::size_t error_bytes = 0;
  double begin_s = now_s();

  bool is_error_cut() const { return error_bytes > kMostErrorBodyBytes; }

  bool read_header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMostHeaderBytes) {
      refusal = fmt::format("the server sends more than {} bytes of headers", kMostHeaderBytes);
      return false;
    }
    read_header_line(reply, line);
    return true;
  }

  bool read_body(std::span<const std::byte> piece) {
    if (is_success(reply.status)) {
      refusal = sink(reply, piece);
      return refusal.empty();
    }
    const std::size_t room = kMostErrorBytes - std::min(reply.error_text.size(), kMostErrorBytes);
    reply.error_text.append(reinterpret_cast<const char*>(piece.data()), std::min(room, piece.size()));
    error_bytes += piece.size();
    return !is_error_cut();
  }
};

std::size_t on_header(char* data, std::size_t, std::size_t bytes, void* exchange) {
  return static_cast<Exchange*>(exchange)->read_header({data, bytes}) ? bytes : 0;
}

std::size_t on_body(char* data, std::size_t, std::size_t bytes, void* exchange) {
  const auto piece = std::as_bytes(std::span(data, bytes));
  auto& of = *static_cast<Exchange*>(exchange);
  try {
    return of.read_body(piece) ? bytes : 0;
  } catch (...) {
    of.thrown = std::current_exception();
    return 0;
  }
}

int on_progress(void* exchange, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const Exchange& of = *static_cast<const Exchange*>(exchange);
  if (of.request.note_wait) of.request.note_wait(now_s() - of.begin_s);
  const bool is_wanted = !of.request.wanted || of.request.wanted();
  return !is_wanted || of.client.is_cancelled() || interrupt_requested() ? 1 : 0;
}

// Returns the first variable that sets a proxy, or nullptr.
const char* proxy_variable() {
  for (const char* const name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    if (!environment_variable(name).empty()) return name;
  }
  return nullptr;
}

// Returns true for failures of the connection itself, as opposed to its settings.
bool comes_after_connecting(CURLcode code) {
  constexpr std::array kAfter{CURLE_PEER_FAILED_VERIFICATION,
                              CURLE_OPERATION_TIMEDOUT,
                              CURLE_PARTIAL_FILE,
                              CURLE_WEIRD_SERVER_REPLY,
                              CURLE_GOT_NOTHING,
                              CURLE_SEND_ERROR,
                              CURLE_RECV_ERROR};
  return std::ranges::find(kAfter, code) != kAfter.end();
}

// Returns libcurl's own reason, unless it may contain a secret: if a proxy cannot be used, libcurl repeats parts of its
// URL, any of which may belong to the intended password.
std::string told_reason(std::string_view reason, CURLcode code) {
  const char* const proxy = proxy_variable();
  const bool has_user = reason.find('@') != std::string_view::npos;
  if (proxy != nullptr && !comes_after_connecting(code)) {
    return fmt::format("{} ({} sets a proxy)", curl_easy_strerror(code), proxy);
  }
  return has_user || reason.empty() ? curl_easy_strerror(code) : shown(reason);
}

// The milliseconds of a time limit, never 0, which libcurl takes for no limit.
long milliseconds(double seconds) { return std::max(1L, std::lround(seconds * 1e3)); }

HttpReply failed(std::string reason) {
  HttpReply reply;
  reply.failure = std::move(reason);
  return reply;
}

bool is_temporary(CURLcode code) {
  constexpr std::array kTemporary{CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,    CURLE_WEIRD_SERVER_REPLY,
                                  CURLE_PARTIAL_FILE,         CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR,
                                  CURLE_GOT_NOTHING,          CURLE_SEND_ERROR,         CURLE_RECV_ERROR};
  return std::ranges::find(kTemporary, code) != kTemporary.end();
}

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(std::string ca_file) : ca_file_(std::move(ca_file)) {}
  HttpReply perform(const HttpRequest& request, const Sink& sink) override;
  void cancel() override { cancelled_ = true; }
  bool is_cancelled() const override { return cancelled_; }

 private:
  // A handle keeps its connections, and the most recently used one is the likeliest to have one still open.
  CurlHandle take_handle();
  void put_back(CurlHandle handle);
  void set_options(CURL* handle, const std::string& url, const curl_slist* headers, Exchange& exchange) const;
  HttpReply perform_once(const HttpRequest& request, const std::string& url, const Sink& sink, std::string& location);

  const std::string ca_file_;  // has the certificates to trust; empty: the system's
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::vector<CurlHandle> idle_;
};

CurlHandle CurlClient::take_handle() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      CurlHandle handle = std::move(idle_.back());
      idle_.pop_back();
      return handle;
    }
  }
  CurlHandle handle(curl_easy_init());
  if (!handle) throw DataError("libcurl returned no handle: out of memory");
  return handle;
}

void CurlClient::put_back(CurlHandle handle) {
  curl_easy_reset(handle.get());  // drops the options, which may contain secrets, and keeps the connections
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(handle));
}

// Redirects are followed by perform(), because libcurl looks for a password for each new host, and follows to any.
void CurlClient::set_options(CURL* handle, const std::string& url, const curl_slist* headers,
                             Exchange& exchange) const {
  const HttpRequest& request = exchange.request;
  const RetryPolicy& limits = request.limits;
  const bool may_use_netrc = request.may_use_netrc && (url == request.url || have_same_origin(url, request.url));
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);  // a signature covers it
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(limits.timeout_s));
  if (!ca_file_.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, ca_file_.c_str());
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_NETRC, may_use_netrc ? static_cast<long>(CURL_NETRC_OPTIONAL) : 0L);
  curl_easy_setopt(handle, CURLOPT_NOBODY, request.head_only ? 1L : 0L);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "chexbench");
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, kReceiveBytes);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kLeastBytesPerS);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(limits.timeout_s)));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds(limits.whole_try_s()));
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &exchange);
}

HttpReply CurlClient::perform(const HttpRequest& request, const Sink& sink) {
  std::string url = request.url;
  for (int redirects = 0;; ++redirects) {
    std::string location;
    HttpReply reply = perform_once(request, url, sink, location);
    if (!request.redirects || location.empty() || !reply.failure.empty()) return reply;
    std::string refusal = redirect_refusal(url, location, *request.redirects);
    if (redirects == kMostRedirects) refusal = fmt::format("the server redirects more than {} times", kMostRedirects);
    if (!refusal.empty()) return failed(std::move(refusal));
    url = without_user(location);
  }
}

// Sets `location` to the URL to which the answer redirects.
HttpReply CurlClient::perform_once(const HttpRequest& request, const std::string& url, const Sink& sink,
                                   std::string& location) {
  Exchange exchange{.client = *this, .sink = sink, .request = request};
  if (cancelled_) return failed("cancelled");
  HeaderList headers;
  for (const std::string& header : request.headers) {
    curl_slist* const longer = curl_slist_append(headers.get(), header.c_str());
    if (longer == nullptr) throw DataError("libcurl accepted no header: out of memory");
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  CurlHandle handle = take_handle();
  std::array<char, CURL_ERROR_SIZE> reason{};
  set_options(handle.get(), url, headers.get(), exchange);
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, reason.data());
  const CURLcode code = curl_easy_perform(handle.get());
  if (code != CURLE_OK && !exchange.is_error_cut()) {
    exchange.reply.failure = told_reason(reason.data(), code);
    exchange.reply.is_temporary = is_temporary(code);
  }
  if (!exchange.refusal.empty()) {
    exchange.reply.failure = std::move(exchange.refusal);
    if (!is_success(exchange.reply.status)) exchange.reply.status = 0;  // a refused answer does not count
  }
  const char* redirect = nullptr;
  curl_easy_getinfo(handle.get(), CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) location = redirect;
  curl_off_t retry_after_s = 0;  // libcurl knows both forms, seconds and a date
  curl_easy_getinfo(handle.get(), CURLINFO_RETRY_AFTER, &retry_after_s);
  if (retry_after_s > 0) exchange.reply.retry_after_s = static_cast<double>(retry_after_s);
  put_back(std::move(handle));
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);
  return std::move(exchange.reply);
}

}  // namespace

std::unique_ptr<HttpClient> make_http_client() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw DataError(fmt::format("libcurl does not start: {}", curl_easy_strerror(ready)));
  return std::make_unique<CurlClient>(trusted_certificates(environment_variable));
}

}  // namespace chexbench::storage
