#include "storage/nfs/nfs_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nfsc/libnfs-raw-nfs4.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "storage/http/fake_http.hpp"
#include "storage/nfs/nfs_compound.hpp"

namespace chexbench::storage {
namespace {

using testing::HasSubstr;

using Words = std::vector<std::uint32_t>;

constexpr std::size_t kMiB = std::size_t{1} << 20;

void put(std::string& to, const Words& words) {
  for (const std::uint32_t word : words) {
    for (const int shift : {24, 16, 8, 0}) to += static_cast<char>(word >> shift);
  }
}

// A client's request.
struct Call {
  std::uint32_t number = 0;
  std::string folder;
  std::vector<std::string> names;
  bool wants_attributes = false;
  std::uint64_t first = 0;
  std::size_t bytes = 0;
};

Call parsed(std::string record) {
  constexpr std::size_t kHeadBytes = 15 * 4;
  Call call;
  for (int i = 0; i < 4; ++i) call.number = call.number << 8 | static_cast<unsigned char>(record[i]);
  ZDR zdr{};
  zdrmem_create(&zdr, record.data() + kHeadBytes, static_cast<std::uint32_t>(record.size() - kHeadBytes), ZDR_DECODE);
  COMPOUND4args arguments{};
  EXPECT_TRUE(zdr_COMPOUND4args(&zdr, &arguments));
  for (const nfs_argop4& one : std::span(arguments.argarray.argarray_val, arguments.argarray.argarray_len)) {
    const auto& of = one.nfs_argop4_u;
    if (one.argop == OP_PUTFH) call.folder.assign(of.opputfh.object.nfs_fh4_val, of.opputfh.object.nfs_fh4_len);
    if (one.argop == OP_LOOKUP)
      call.names.emplace_back(of.oplookup.objname.utf8string_val, of.oplookup.objname.utf8string_len);
    if (one.argop == OP_GETATTR) call.wants_attributes = true;
    if (one.argop == OP_READ) call.first = of.opread.offset, call.bytes = of.opread.count;
  }
  zdr_destroy(&zdr);
  return call;
}

// An answer without its record mark.
std::string answer_to(const Call& call, const std::string& data, std::uint64_t file_bytes) {
  std::string text;
  put(text, {call.number, 1, 0, 0, 0, 0, NFS4_OK, 0, static_cast<std::uint32_t>(3 + call.wants_attributes)});
  put(text, {OP_PUTFH, NFS4_OK, OP_LOOKUP, NFS4_OK});
  if (call.wants_attributes) {
    put(text, {OP_GETATTR, NFS4_OK, 2, 1U << FATTR4_TYPE | 1U << FATTR4_SIZE, 1U << (FATTR4_TIME_MODIFY - 32), 24});
    put(text, {NF4REG, 0, static_cast<std::uint32_t>(file_bytes), 0, 77, 5});
  }
  put(text, {OP_READ, NFS4_OK, 0, static_cast<std::uint32_t>(data.size())});
  text += data + std::string((4 - data.size() % 4) % 4, '\0');
  return text;
}

std::string as_record(const std::string& text) {
  std::string record;
  put(record, {0x80000000U | static_cast<std::uint32_t>(text.size())});
  return record + text;
}

std::string file_of(std::size_t bytes) {
  std::string file;
  for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>(i * 7 + i / 1000);
  return file;
}

class NfsReaderTest : public testing::Test {
 protected:
  // Gets all calls that have arrived so far, and returns the bytes to send.
  using Answer = std::function<std::string(std::vector<Call>& calls)>;

  NfsReaderTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~NfsReaderTest() override {
    ::shutdown(ends_[0], SHUT_RDWR);
    server_ = {};
    for (const int end : ends_) ::close(end);
  }
  // Answers whenever `calls_at_once` calls have come, until the test ends or `answer` returns nothing: then it closes.
  void serve(std::size_t calls_at_once, Answer answer) {
    server_ = std::jthread([this, calls_at_once, answer = std::move(answer)] {
      std::vector<Call> calls;
      while (const std::optional<std::string> record = next_record()) {
        calls.push_back(parsed(*record));
        if (calls.size() < calls_at_once) continue;
        const std::string sent = answer(calls);
        calls.clear();
        if (sent.empty()) break;
        for (std::size_t at = 0; at < sent.size();) {
          const ssize_t count = ::send(ends_[1], sent.data() + at, sent.size() - at, MSG_NOSIGNAL);
          if (count < 0) return;
          at += static_cast<std::size_t>(count);
        }
      }
      ::shutdown(ends_[1], SHUT_RDWR);
    });
  }
  std::optional<std::string> next_record() {
    const auto mark = received(4);
    if (!mark) return {};
    std::size_t bytes = 0;
    for (const char c : *mark) bytes = bytes << 8 | static_cast<unsigned char>(c);
    return received(bytes & 0x7fffffff);
  }
  std::optional<std::string> received(std::size_t bytes) {
    std::string text(bytes, '\0');
    if (::recv(ends_[1], text.data(), bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) return {};
    return text;
  }
  NfsAttributes read(std::uint64_t first, std::size_t bytes) {
    part_.assign(bytes, '?');
    RangePieces pieces(std::as_writable_bytes(std::span(part_)));
    const NfsAttributes attributes = reader_->read(ends_[0], "handle", "/x", first, pieces);
    filled_ = pieces.filled();
    return attributes;
  }
  NfsFailure failure() {
    try {
      read(0, 100);
    } catch (const NfsFailure& failure) {
      return failure;
    }
    ADD_FAILURE() << "it did not fail";
    return {};
  }

  std::array<int, 2> ends_{};
  std::optional<NfsReader> reader_{SocketLimits{}};
  std::string part_;
  std::size_t filled_ = 0;
  std::jthread server_;
};

TEST_F(NfsReaderTest, ReadsARangeInOneRoundTrip) {
  const std::string file = file_of(3 * kMiB + 1001);
  serve(4, [&](std::vector<Call>& calls) {
    EXPECT_EQ(calls[0].folder, "handle");
    EXPECT_EQ(calls[0].names, std::vector<std::string>{"x"});
    std::string sent;
    for (const Call& call : calls) {
      EXPECT_EQ(call.wants_attributes, &call == &calls[0]);
      sent += as_record(answer_to(call, file.substr(call.first, call.bytes), file.size()));
    }
    return sent;
  });
  const NfsAttributes attributes = read(1, file.size() - 1);
  EXPECT_EQ(part_, file.substr(1));
  EXPECT_EQ(attributes.kind, StoreEntry::Kind::file);
  EXPECT_EQ(attributes.bytes, file.size());
  EXPECT_EQ(attributes.changed_s, 77u);
  EXPECT_EQ(attributes.changed_ns, 5u);
}

TEST_F(NfsReaderTest, PutsAnswersIntoTheirOrder) {
  const std::string file = file_of(3 * kMiB);
  serve(3, [&](std::vector<Call>& calls) {
    std::string sent;
    for (const std::size_t one : {2, 0, 1})
      sent += as_record(answer_to(calls[one], file.substr(calls[one].first, calls[one].bytes), file.size()));
    return sent;
  });
  read(0, file.size());
  EXPECT_EQ(part_, file);
}

TEST_F(NfsReaderTest, AsksAgainForWhatIsMissing) {
  const std::string file = file_of(2 * kMiB);
  std::size_t asked = 0;
  serve(2, [&](std::vector<Call>& calls) {
    asked += calls.size();
    std::string sent;
    std::swap(calls[0], calls[1]);
    for (const Call& call : calls)
      sent += as_record(answer_to(call, file.substr(call.first, std::min(call.bytes, kMiB / 2)), file.size()));
    return sent;
  });
  read(0, file.size());
  EXPECT_EQ(part_, file);
  EXPECT_EQ(asked, 4u);
}

TEST_F(NfsReaderTest, StaysIncompleteIfTheFileEndsEarlier) {
  const std::string file = file_of(1000);
  serve(1, [&](std::vector<Call>& calls) {
    const std::string data = calls[0].first < file.size() ? file.substr(calls[0].first, calls[0].bytes) : "";
    return as_record(answer_to(calls[0], data, file.size()));
  });
  read(400, 2 * kMiB);
  EXPECT_EQ(filled_, 600u);
  EXPECT_EQ(part_.substr(0, 600), file.substr(400));
  read(0, 1000);  // the connection is still good
  EXPECT_EQ(part_, file);
}

TEST_F(NfsReaderTest, AsksForTheAttributesOfAnEmptyFile) {
  serve(1, [](std::vector<Call>& calls) { return as_record(answer_to(calls[0], "", 0)); });
  EXPECT_EQ(read(0, 0).kind, StoreEntry::Kind::file);
}

TEST_F(NfsReaderTest, TakesAnswersInFragments) {
  const std::string file = file_of(1000);
  serve(1, [&](std::vector<Call>& calls) {
    const std::string text = answer_to(calls[0], file, file.size());
    std::string sent;
    for (std::size_t at = 0; at + 100 < text.size(); at += 100) {
      put(sent, {100});
      sent += text.substr(at, 100);
    }
    return sent + as_record(text.substr(text.size() - (text.size() - 1) % 100 - 1));
  });
  read(0, file.size());
  EXPECT_EQ(part_, file);
}

// An answer that is nothing but a status.
std::string status_record(const Call& call, std::uint32_t status) {
  std::string text;
  put(text, {call.number, 1, 0, 0, 0, 0, status, 0, 0});
  return as_record(text);
}

TEST_F(NfsReaderTest, TellsThatThereIsNoSuchFile) {
  serve(1, [](std::vector<Call>& calls) { return status_record(calls[0], NFS4ERR_NOENT); });
  const NfsFailure absent = failure();
  EXPECT_TRUE(absent.is_absent);
  EXPECT_FALSE(absent.is_temporary);
}

TEST_F(NfsReaderTest, TellsOfAStatusThatNfsDoesNotHave) {  // which the sanitizers see where it becomes an nfsstat4
  serve(1, [](std::vector<Call>& calls) { return status_record(calls[0], 43010); });
  const NfsFailure odd = failure();
  EXPECT_FALSE(odd.is_absent);
  EXPECT_NE(odd.reason, "");
  EXPECT_NE(failure_of(0xffffffff).reason, "");
}

TEST_F(NfsReaderTest, FollowsNoLink) {
  serve(1, [](std::vector<Call>& calls) { return status_record(calls[0], NFS4ERR_SYMLINK); });
  const NfsFailure link = failure();
  EXPECT_THAT(link.reason, HasSubstr("links of the server are not followed"));
  EXPECT_FALSE(link.is_temporary);
}

TEST_F(NfsReaderTest, ALostConnectionMayBeReplaced) {
  serve(1, [](std::vector<Call>&) { return std::string(); });
  const NfsFailure lost = failure();
  EXPECT_EQ(lost.reason, "the server closed the connection");
  EXPECT_TRUE(lost.is_temporary);
}

TEST_F(NfsReaderTest, DoesNotWaitForEver) {
  serve(9, [](std::vector<Call>&) { return std::string(); });
  reader_.emplace(SocketLimits{.timeout_s = 0.2});
  EXPECT_EQ(failure().reason, "no answer for 0.2 s");
}

TEST_F(NfsReaderTest, EndsWithTheRun) {
  serve(9, [](std::vector<Call>&) { return std::string(); });
  reader_.emplace(SocketLimits{.ends = [] { return true; }});
  EXPECT_EQ(failure().reason, "nobody waits for it any more");
}

struct Lie {
  const char* name;
  std::function<std::string(const Call& call)> answer;
  const char* reason;
};

class NfsReaderLies : public NfsReaderTest, public testing::WithParamInterface<Lie> {};

TEST_P(NfsReaderLies, AreRefused) {
  serve(1, [](std::vector<Call>& calls) { return GetParam().answer(calls[0]); });
  EXPECT_THAT(failure().reason, HasSubstr(GetParam().reason));
}

Call other(Call call) {
  ++call.number;
  return call;
}

std::string head_of(const Call& call, const Words& rest) {
  std::string text;
  put(text, {call.number, 1, 0, 0, 0, 0, NFS4_OK});
  put(text, rest);
  return as_record(text);
}

INSTANTIATE_TEST_SUITE_P(
    All, NfsReaderLies,
    testing::Values(
        Lie{"OtherNumber", [](const Call& call) { return as_record(answer_to(other(call), "ab", 2)); }, "nobody asked"},
        Lie{"TooManyBytes", [](const Call& call) { return as_record(answer_to(call, std::string(101, 'x'), 101)); },
            "more bytes than requested"},
        Lie{"Short", [](const Call& call) { return as_record(answer_to(call, "abc", 3).substr(0, 50)); },
            "ends too early"},
        Lie{"LongTag", [](const Call& call) { return head_of(call, {1U << 30}); }, "at most 1024 are expected"},
        Lie{"OtherOperation",
            [](const Call& call) {
              return head_of(call, {0, 1, OP_REMOVE, 0});
            },
            "another request"},
        Lie{"Contradiction",
            [](const Call& call) {
              return head_of(call, {0, 1, OP_PUTFH, 70});
            },
            "contradicts itself"},
        Lie{"NoResults",
            [](const Call& call) {
              return head_of(call, {0, 0});
            },
            "does not tell type"},
        Lie{"NoReply",
            [](const Call& call) {
              std::string text;
              put(text, {call.number, 0, 0});
              return as_record(text);
            },
            "does not accept"},
        Lie{"EmptyParts", [](const Call&) { return std::string(4000, '\0'); }, "empty part"},
        Lie{"Huge",
            [](const Call&) {
              std::string text;
              put(text, {0xffffffffU});
              return text;
            },
            "more than 2097152 bytes"}),
    [](const auto& lie) { return lie.param.name; });

}  // namespace
}  // namespace chexbench::storage
