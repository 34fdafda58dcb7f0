#include "storage/nfs/nfs_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/fake_http.hpp"

namespace chexbench::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The server of a test: the state shared and recorded by all connections.
struct FakeServer {
  std::string body = "0123456789";
  std::uint64_t changed_s = 1000;
  std::optional<std::uint64_t> bytes = {};  // the size in its attributes, if that is wrong
  std::vector<std::string> names = {"x"};
  std::vector<std::string> links = {};
  std::function<void()> before_read = [] {};
  bool keeps_idle = true;  // idle connections
  std::atomic<int> connections = 0, reads = 0;

  NfsAttributes attributes() const {
    return {.kind = StoreEntry::Kind::file, .bytes = bytes.value_or(body.size()), .changed_s = changed_s};
  }
};

class FakeConnection final : public NfsConnection {
 public:
  explicit FakeConnection(FakeServer& server) : server_(server) { ++server.connections; }
  std::vector<NfsEntry> list(const std::string&) override {
    std::vector<NfsEntry> entries{{"d", {.kind = StoreEntry::Kind::folder}}};
    for (const std::string& name : server_.names) entries.push_back({name, server_.attributes()});
    for (const std::string& name : server_.links) entries.push_back({name, {}});
    return entries;
  }
  NfsAttributes attributes(const std::string& path) override {
    if (path != "/x") throw NfsFailure{.reason = "no such file", .is_absent = true};
    return server_.attributes();
  }
  NfsAttributes read(const std::string&, std::uint64_t first, RangePieces& pieces) override {
    ++server_.reads;
    server_.before_read();
    const std::string part = server_.body.substr(first, pieces.size());
    pieces.append(test::bytes_of(part));
    return server_.attributes();
  }
  bool is_open() const override { return server_.keeps_idle; }

 private:
  FakeServer& server_;
};

class NfsStoreTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& root = "nfs://host/export") {
    return make_nfs_store(*parse_url(root),
                          [this](const NfsPlace& place, const auto&) {
                            place_ = place;
                            return std::make_unique<FakeConnection>(server_);
                          },
                          {.tries = 3, .first_delay_s = 1e-4, .most_delay_s = 1e-3, .timeout_s = 7});
  }
  std::string read_failure(const Store& store) {
    return message_of<DataError>([&] { store.read("nfs://host/export/x", buffer_); });
  }
  FakeServer server_;
  NfsPlace place_;
  ByteBuffer buffer_;
};

TEST_F(NfsStoreTest, FindsHostPortAndFolderInItsRoot) {
  open("nfs://host:12049/export/set")->list("nfs://host:12049/export/set");
  EXPECT_EQ(place_.host, "host");
  EXPECT_EQ(place_.port, 12049);
  EXPECT_EQ(place_.folder, "/export/set");
  EXPECT_DOUBLE_EQ(place_.limits.timeout_s, 7);
  open()->list("nfs://host/export");
  EXPECT_EQ(place_.port, 2049);
}

TEST_F(NfsStoreTest, RefusesARootThatLeadsNowhere) {
  EXPECT_THAT(message_of<DataError>([&] { open("nfs://host"); }), HasSubstr("names no export"));
  for (const char* root : {"nfs://host:/e", "nfs://host:0/e", "nfs://host:70000/e"}) {
    EXPECT_THAT(message_of<DataError>([&] { open(root); }), HasSubstr("no port")) << root;
  }
  EXPECT_THAT(message_of<DataError>([&] { open("nfs://host:1a/e"); }), HasSubstr("a port that is no number"));
}

TEST_F(NfsStoreTest, ReadsWholeFilesAndListsFolders) {
  const auto store = open();
  EXPECT_EQ(test::text_of(store->read("nfs://host/export/x", buffer_)), "0123456789");
  EXPECT_EQ(store->size("nfs://host/export/y"), std::nullopt);
  const auto entries = store->list("nfs://host/export");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].kind, StoreEntry::Kind::folder);
  EXPECT_EQ(entries[1].bytes, 10u);
}

TEST_F(NfsStoreTest, UsesAConnectionAgain) {
  const auto store = open();
  for (int i = 0; i < 5; ++i) store->read("nfs://host/export/x", buffer_);
  EXPECT_EQ(server_.connections, 1);
}

TEST_F(NfsStoreTest, OpensANewConnectionIfTheServerClosedTheOldOne) {
  const auto store = open();
  store->read("nfs://host/export/x", buffer_);
  server_.keeps_idle = false;
  store->read("nfs://host/export/x", buffer_);
  EXPECT_EQ(server_.connections, 2);
}

TEST_F(NfsStoreTest, TriesAgainOnAnotherConnectionAfterWhatMayPass) {
  server_.before_read = [this] {
    if (server_.reads < 3) throw NfsFailure{.reason = "cut", .is_temporary = true};
  };
  EXPECT_EQ(open()->read("nfs://host/export/x", buffer_).size(), 10u);
  EXPECT_EQ(server_.connections, 3);
}

TEST_F(NfsStoreTest, NamesFileReasonAndTriesInTheEnd) {
  server_.before_read = [] { throw NfsFailure{.reason = "cut", .is_temporary = true}; };
  EXPECT_THAT(read_failure(*open()), AllOf(HasSubstr("cannot read nfs://host/export/x: cut"), HasSubstr("3 tries")));
}

TEST_F(NfsStoreTest, DoesNotTryAgainWhatWillNotPass) {
  server_.before_read = [] { throw NfsFailure{.reason = "denied"}; };
  EXPECT_EQ(read_failure(*open()), "cannot read nfs://host/export/x: denied");
  EXPECT_EQ(server_.reads, 1);
}

TEST_F(NfsStoreTest, HoldsAFileAgainstItsListing) {
  const auto store = open();
  store->list("nfs://host/export");
  server_.changed_s = 2000;
  EXPECT_THAT(read_failure(*store),
              HasSubstr("its version was 1970-01-01T00:16:40.000000000Z and is 1970-01-01T00:33"));
  server_.changed_s = 1000;
  server_.body = "shorter";
  EXPECT_THAT(read_failure(*store), HasSubstr("it had 10 bytes and has 7 now"));
}

TEST_F(NfsStoreTest, AFileThatEndsEarlyIsAnErrorThoughItsSizeSaysOtherwise) {
  const auto store = open();
  store->size("nfs://host/export/x");
  const std::unique_ptr<ByteStream> stream = [&] {
    server_.before_read = [this] { server_.body.resize(4); };
    return store->stream("nfs://host/export/x", {});
  }();
  EXPECT_THAT(message_of<DataError>([&] { stream->take(10); }), HasSubstr("it had 10 bytes and has 4 now"));
}

TEST_F(NfsStoreTest, NeverUsesANameThatLeadsElsewhere) {
  server_.names = {"../../etc/passwd", "..", "", "a/b", "\x1B[2J", "x"};
  const auto entries = open()->list("nfs://host/export");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].name, "x");
}

TEST_F(NfsStoreTest, TellsOfAllLinksOfAFolderInTwoLines) {
  server_.links = {"a", "b", "c"};
  testing::internal::CaptureStderr();
  open()->list("nfs://host/export");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(told, '\n'), 2) << told;
  EXPECT_THAT(told, AllOf(HasSubstr("nfs://host/export/a is left out"), HasSubstr("2 more such entries")));
}

TEST_F(NfsStoreTest, NeverAsksForTheMemoryThatALieAsksFor) {
  server_.bytes = std::uint64_t{1} << 62;
  EXPECT_THAT(read_failure(*open()), HasSubstr("it has 4611686018427387904 bytes, and at most 536870912"));
  EXPECT_EQ(server_.reads, 0);
  server_.bytes = std::uint64_t{500} << 20;  // wrong, but within the limit: memory grows with the bytes that arrive
  EXPECT_THAT(read_failure(*open()), HasSubstr("it ends at byte 10, and 67108864 bytes were expected"));
  EXPECT_LE(buffer_.capacity(), std::size_t{160} << 20);
}

TEST_F(NfsStoreTest, ReadsAFileOfSeveralPieces) {
  server_.body = std::string((std::size_t{65} << 20) + 3, 'x');
  server_.body.back() = 'y';
  EXPECT_EQ(test::text_of(open()->read("nfs://host/export/x", buffer_)), server_.body);
  EXPECT_EQ(server_.reads, 2);
}

TEST_F(NfsStoreTest, AnEmptyFileHasAVersionToo) {
  server_.body.clear();
  const auto store = open();
  EXPECT_EQ(store->read("nfs://host/export/x", buffer_).size(), 0u);
  server_.changed_s = 2000;
  EXPECT_THAT(read_failure(*store), HasSubstr("changed under the run"));
}

TEST_F(NfsStoreTest, TakesATimeThatNoCalendarKnows) {
  server_.changed_s = ~std::uint64_t{0} / 2;
  EXPECT_EQ(open()->read("nfs://host/export/x", buffer_).size(), 10u);
}

TEST_F(NfsStoreTest, ShowsNoControlCharacterOfTheServer) {
  server_.before_read = [] { throw NfsFailure{.reason = "\x1B[2J"}; };
  EXPECT_EQ(read_failure(*open()), "cannot read nfs://host/export/x: \\x1B[2J");
}

class NfsBlocksTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = NfsBlocks::kBytes * 5 / 2;
  static constexpr std::uint64_t kFirst = 7;

  NfsBlocksTest() {
    for (std::size_t i = 0; i < kBytes; ++i) file_ += static_cast<char>(i / 1000 % 251);
  }
  // Answers with up to `bytes` of what is missing of the block.
  void answer(std::size_t block, std::size_t bytes = NfsBlocks::kBytes) {
    const auto whole = std::as_bytes(std::span(file_));
    blocks_.take(block, whole.subspan(blocks_.first_missing(block) - kFirst, std::min(bytes, blocks_.missing(block))));
  }

  std::string file_;
  std::string memory_ = std::string(kBytes, '?');
  RangePieces pieces_{std::as_writable_bytes(std::span(memory_))};
  NfsBlocks blocks_{kFirst, pieces_};
};

TEST_F(NfsBlocksTest, CoverTheRange) {
  ASSERT_EQ(blocks_.count(), 3u);
  EXPECT_EQ(blocks_.first_missing(1), kFirst + NfsBlocks::kBytes);
  EXPECT_EQ(blocks_.missing(1), NfsBlocks::kBytes);
  EXPECT_EQ(blocks_.missing(2), NfsBlocks::kBytes / 2);
}

TEST_F(NfsBlocksTest, AreInTheirOrderHoweverTheyCome) {
  constexpr std::array<std::array<std::size_t, 3>, 6> kOrders = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const auto& order : kOrders) {
    pieces_.clear();
    memory_.assign(kBytes, '?');
    NfsBlocks blocks(kFirst, pieces_);
    for (const std::size_t block : order) {
      const auto whole = std::as_bytes(std::span(file_));
      blocks.take(block, whole.subspan(blocks.first_missing(block) - kFirst, blocks.missing(block)));
    }
    EXPECT_EQ(pieces_.filled(), kBytes);
    EXPECT_EQ(memory_, file_) << order[0] << order[1] << order[2];
  }
}

TEST_F(NfsBlocksTest, TakeWhatAServerSendsInPieces) {
  answer(2, 1000);
  answer(1, 5);
  EXPECT_EQ(pieces_.filled(), 0u);
  answer(0, 10);
  EXPECT_EQ(pieces_.filled(), 10u);
  EXPECT_EQ(blocks_.first_missing(0), kFirst + 10);
  answer(0);
  EXPECT_EQ(pieces_.filled(), NfsBlocks::kBytes + 5);
  answer(2);
  answer(1);
  EXPECT_EQ(memory_, file_);
}

TEST_F(NfsBlocksTest, StayIncompleteIfTheFileEndsEarlier) {
  answer(0, 100);
  answer(1);
  answer(2);
  EXPECT_EQ(pieces_.filled(), 100u);
}

TEST(NfsBlocks, OfAnEmptyRangeAreOne) {
  RangePieces nothing(std::span<std::byte>{});
  NfsBlocks blocks(0, nothing);
  EXPECT_EQ(blocks.count(), 1u);
  blocks.take(0, {});
  EXPECT_EQ(blocks.missing(0), 0u);
}

}  // namespace
}  // namespace chexbench::storage
