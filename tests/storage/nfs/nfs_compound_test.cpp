#include "storage/nfs/nfs_compound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace chexbench::storage {
namespace {

using testing::ElementsAre;

std::vector<nfs_opnum4> operations_of(NfsCompound& compound) {
  const COMPOUND4args arguments = compound.arguments();
  std::vector<nfs_opnum4> operations;
  for (u_int i = 0; i < arguments.argarray.argarray_len; ++i)
    operations.push_back(arguments.argarray.argarray_val[i].argop);
  return operations;
}

std::string name_of(NfsCompound& compound, std::size_t operation) {
  const component4& name = compound.arguments().argarray.argarray_val[operation].nfs_argop4_u.oplookup.objname;
  return {name.utf8string_val, name.utf8string_len};
}

TEST(NfsCompound, GoesDownAPathAndReads) {
  const std::string handle = "abc", path = "/images//x.png";
  NfsCompound compound(handle);
  compound.look_up(path).get_attributes().read(7, 100);
  EXPECT_THAT(operations_of(compound), ElementsAre(OP_PUTFH, OP_LOOKUP, OP_LOOKUP, OP_GETATTR, OP_READ));
  EXPECT_EQ(name_of(compound, 1), "images");
  EXPECT_EQ(name_of(compound, 2), "x.png");
  const READ4args& read = compound.arguments().argarray.argarray_val[4].nfs_argop4_u.opread;
  EXPECT_EQ(read.offset, 7u);
  EXPECT_EQ(read.count, 100u);
  EXPECT_THAT(read.stateid.other, testing::Each(0)) << "the anonymous stateid of RFC 7530, 9.1.4.3";
}

TEST(NfsCompound, StaysWhereItIsForTheFolderItself) {
  NfsCompound compound;
  compound.look_up("/").get_handle();
  EXPECT_THAT(operations_of(compound), ElementsAre(OP_PUTROOTFH, OP_GETFH));
}

TEST(NfsBytesInAnAnswer, AreNothingIfTheReadFailedOrIsLeftOut) {
  nfs_resop4 result{};
  result.resop = OP_READ;
  COMPOUND4res answer{};
  answer.resarray = {1, &result};
  char bytes[] = "xyz";
  result.nfs_resop4_u.opread.READ4res_u.resok4.data = {3, bytes};
  EXPECT_EQ(bytes_in(answer).value().size(), 3u);
  result.nfs_resop4_u.opread.status = NFS4ERR_IO;
  EXPECT_FALSE(bytes_in(answer)) << "although the whole answer is NFS4_OK";
  result.resop = OP_GETATTR;
  EXPECT_FALSE(bytes_in(answer));
}

// An answer of a server to GETATTR, whose parts a test changes.
struct AttributesAnswer {
  std::vector<std::uint32_t> words = {1U << FATTR4_TYPE | 1U << FATTR4_SIZE, 1U << (FATTR4_TIME_MODIFY - 32)};
  std::array<unsigned char, 24> values = {0, 0, 0, NF4REG, 0, 0, 0, 1, 0, 0, 0, 2,   // type, size
                                          0, 0, 0, 0,      0, 0, 3, 4, 0, 0, 0, 5};  // seconds, nanoseconds
  std::size_t value_bytes = values.size();

  std::optional<NfsAttributes> read() {
    nfs_resop4 result{};
    result.resop = OP_GETATTR;
    fattr4& sent = result.nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes;
    sent.attrmask = {static_cast<u_int>(words.size()), words.data()};
    sent.attr_vals = {static_cast<u_int>(value_bytes), reinterpret_cast<char*>(values.data())};
    COMPOUND4res answer{};
    answer.resarray = {1, &result};
    return attributes_in(answer);
  }
};

TEST(NfsAttributesInAnAnswer, AreTypeSizeAndTime) {
  const std::optional<NfsAttributes> found = AttributesAnswer{}.read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, StoreEntry::Kind::file);
  EXPECT_EQ(found->bytes, (std::uint64_t{1} << 32) + 2);
  EXPECT_EQ(found->changed_s, 0x304u);
  EXPECT_EQ(found->changed_ns, 5u);
}

TEST(NfsAttributesInAnAnswer, AreNothingIfAServerSendsOthersOrTooFewBytes) {
  EXPECT_FALSE(AttributesAnswer{.words = {1U << FATTR4_TYPE}}.read());
  EXPECT_FALSE(AttributesAnswer{.value_bytes = 23}.read());
  EXPECT_FALSE(attributes_in({})) << "the operation is not answered";
  EXPECT_FALSE(handle_in({}));
}

TEST(NfsAttributesInAnAnswer, CallsALinkSomethingElse) {
  AttributesAnswer link;
  link.values[3] = NF4LNK;
  EXPECT_EQ(link.read()->kind, StoreEntry::Kind::other);
}

}  // namespace
}  // namespace chexbench::storage
