// Servers' answers to requests: HTTP replies and NFS attributes, as passed on by the clients' libraries.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fuzz/fuzz.hpp"
#include "fuzz/memory_store.hpp"
#include "storage/http/http_fetcher.hpp"
#include "storage/nfs/nfs_store.hpp"
#include "storage/s3/aws_settings.hpp"

namespace chexbench::fuzz {
namespace {

constexpr storage::RetryPolicy kOnce{.tries = 1};
constexpr std::size_t kMostRange = 300;
constexpr std::uint64_t kMostListing = 1 << 16;

std::uint64_t number_from(Input& input) {
  std::uint64_t value = 0;
  for (unsigned bytes = input.byte() % 9; bytes > 0; --bytes) value = value << 8 | input.byte();
  return value;
}

// Answers every request from the input.
class ScriptedClient final : public storage::HttpClient {
 public:
  explicit ScriptedClient(Input& input) : input_(input) {}
  storage::HttpReply perform(const storage::HttpRequest&, const Sink& sink) override {
    storage::HttpReply reply;
    reply.status = static_cast<int>(input_.byte() << 2 | input_.byte() % 4);
    if (input_.byte() % 2 == 1) reply.length = number_from(input_);
    reply.content_range = input_.line();
    reply.etag = input_.line();
    reply.last_modified = input_.line();
    reply.error_text = input_.line();
    const bool has_body = reply.status >= 200 && reply.status < 300;
    for (unsigned pieces = input_.byte() % 4; has_body && pieces > 0; --pieces) {
      const std::string piece = input_.line();
      reply.failure = sink(reply, piece.empty() ? Bytes() : std::as_bytes(std::span(piece)));
      if (!reply.failure.empty()) break;
    }
    return reply;
  }
  void cancel() override {}
  bool is_cancelled() const override { return false; }

 private:
  Input& input_;
};

class PlainDialect final : public storage::HttpDialect {
 public:
  storage::HttpRequest request(const std::string& url, const std::string& range, bool head_only) const override {
    return {.url = url, .headers = {range}, .head_only = head_only};
  }
};

storage::NfsAttributes attributes_from(Input& input) {
  using Kind = storage::StoreEntry::Kind;
  constexpr Kind kKinds[] = {Kind::file, Kind::folder, Kind::other};
  storage::NfsAttributes attributes;
  attributes.kind = kKinds[input.byte() % 3];
  attributes.bytes = number_from(input);
  attributes.changed_s = number_from(input);
  attributes.changed_ns = number_from(input);
  return attributes;
}

class ScriptedConnection final : public storage::NfsConnection {
 public:
  explicit ScriptedConnection(Input* const& input) : input_(input) {}
  std::vector<storage::NfsEntry> list(const std::string&) override {
    fail_sometimes();
    std::vector<storage::NfsEntry> entries;
    for (unsigned count = input_->byte() % 8; count > 0; --count) {
      std::string name = input_->line();
      entries.push_back({std::move(name), attributes_from(*input_)});
    }
    return entries;
  }
  storage::NfsAttributes attributes(const std::string&) override {
    fail_sometimes();
    return attributes_from(*input_);
  }
  storage::NfsAttributes read(const std::string&, std::uint64_t, storage::RangePieces& pieces) override {
    fail_sometimes();
    const std::string body = input_->line();
    pieces.append(std::as_bytes(std::span(body)).first(std::min(body.size(), pieces.size())));
    return attributes_from(*input_);
  }

 private:
  void fail_sometimes() {
    const unsigned choice = input_->byte();
    if (choice % 8 != 0) return;
    throw storage::NfsFailure{.reason = input_->line(), .is_absent = choice % 16 == 0};
  }

  Input* const& input_;  // of the run at hand
};

// A store starts threads and remembers its answers, so one serves many runs, each in a separate folder.
class NfsRuns {
 public:
  // Begins a run whose answers come from `input`, and returns its folder.
  std::string begin(Input& input) {
    if (runs_++ % kRunsOfAStore == 0) {
      store_ = storage::make_nfs_store({.scheme = "nfs", .authority = "host", .path = "/export"}, connect(), kOnce);
    }
    input_ = &input;
    return fmt::format("nfs://host/export/{}", runs_ % kRunsOfAStore);
  }
  const storage::Store& store() const { return *store_; }

 private:
  static constexpr int kRunsOfAStore = 1000;

  storage::NfsConnect connect() {
    return [this](const storage::NfsPlace&, const std::function<bool()>&) {
      return std::make_unique<ScriptedConnection>(input_);
    };
  }

  int runs_ = 0;
  Input* input_ = nullptr;
  std::unique_ptr<storage::Store> store_;
};

}  // namespace

FUZZ_TARGET(http_reply, "storage/http/http_fetcher.cpp storage/untrusted.cpp") {
  Input input(bytes);
  const PlainDialect dialect;
  storage::HttpFetcher fetcher(std::make_unique<ScriptedClient>(input), dialect, kOnce);
  const storage::HttpTarget target{.path = "http://host/file", .url = "http://host/file"};
  storage::ByteBuffer buffer;
  std::vector<std::byte> part(1 + input.byte() % kMostRange);
  for (int request = 0; request < 8 && !input.rest().empty(); ++request) {
    accepted({ExitCode::data}, [&] {
      switch (input.byte() % 4) {
        case 0:
          return fetcher.size(target), true;
        case 1:
          return require(fetcher.read(target, buffer).size() <= bytes.size(), "a body is longer than it came"), true;
        case 2:
          return fetcher.read_listing(target, kMostListing, true), true;
        default:
          storage::RangePieces pieces(part);
          return fetcher.read_range(target, input.byte(), pieces, [] { return true; }), true;
      }
    });
  }
}

FUZZ_TARGET(http_head, "storage/http/curl_parts.cpp") {
  Input input(bytes);
  storage::HttpReply reply;
  while (!input.rest().empty()) storage::read_header_line(reply, input.line());
  require(reply.status >= -99 && reply.status <= 999, "a status has more than three characters");
}

FUZZ_TARGET(nfs_answer, "storage/nfs/nfs_store.cpp storage/untrusted.cpp") {
  Input input(bytes);
  static NfsRuns runs;
  const std::string root = runs.begin(input);
  const storage::Store& store = runs.store();
  storage::ByteBuffer buffer;
  for (int request = 0; request < 6 && !input.rest().empty(); ++request) {
    accepted({ExitCode::data}, [&] {
      switch (input.byte() % 3) {
        case 0:
          for (const storage::StoreEntry& entry : store.list(root)) {
            require(entry.name != "." && entry.name != ".." && entry.name.find('/') == std::string::npos,
                    "an NFS server names what is no direct child");
          }
          return true;
        case 1:
          return store.size(root + "/file"), true;
        default:
          return require(store.read(root + "/file", buffer).size() <= bytes.size(), "a file is longer than it came"),
                 true;
      }
    });
  }
}

// The first line is the environment, NAME=VALUE joined by blanks; the rest is the text of both of AWS's files.
FUZZ_TARGET(aws_settings, "storage/s3/aws_settings.cpp") {
  Input input(bytes);
  const std::string environment = input.line() + " ";
  const MemoryFile file(input.rest());
  accepted({ExitCode::data}, [&] {
    storage::find_aws_settings([&](const std::string& name) -> std::string {
      if (name == "AWS_CONFIG_FILE" || name == "AWS_SHARED_CREDENTIALS_FILE") return file.path();
      const std::size_t at = environment.find(name + "=");
      if (at == std::string::npos) return {};
      const std::size_t begin = at + name.size() + 1;
      return environment.substr(begin, environment.find(' ', begin) - begin);
    });
    return true;
  });
}

}  // namespace chexbench::fuzz
