#include "storage/nfs/nfs_compound.hpp"

#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw.h>  // needs the definitions of libnfs.h

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace chexbench::storage {
namespace {

constexpr std::size_t kWordBits = 32;
// The requested attributes, in the order of an answer.
constexpr std::array<std::uint32_t, 2> kWanted = {1U << FATTR4_TYPE | 1U << FATTR4_SIZE,
                                                  1U << (FATTR4_TIME_MODIFY - kWordBits)};

// Takes the integers of XDR, which are big-endian.
class XdrReader {
 public:
  explicit XdrReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t take(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const std::byte byte : bytes_.first(bytes)) value = value << 8 | std::to_integer<std::uint64_t>(byte);
    bytes_ = bytes_.subspan(bytes);
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Returns the result of the first such operation, or nullptr.
const nfs_resop4* find(const COMPOUND4res& answer, nfs_opnum4 operation) {
  const std::span results(answer.resarray.resarray_val, answer.resarray.resarray_len);
  const auto found = std::ranges::find(results, operation, &nfs_resop4::resop);
  if (found == results.end()) return nullptr;
  // Each result begins with its status, which a server may contradict by that of the whole answer. It may not be a
  // value of its type.
  std::uint32_t status = 0;
  std::memcpy(&status, &found->nfs_resop4_u, sizeof status);
  return status == NFS4_OK ? &*found : nullptr;
}

StoreEntry::Kind kind_of_type(std::uint64_t type) {
  if (type == NF4REG) return StoreEntry::Kind::file;
  return type == NF4DIR ? StoreEntry::Kind::folder : StoreEntry::Kind::other;
}

}  // namespace

NfsCompound::NfsCompound() { add(OP_PUTROOTFH); }

NfsCompound::NfsCompound(std::string_view handle) {
  add(OP_PUTFH).nfs_argop4_u.opputfh.object = {static_cast<u_int>(handle.size()), const_cast<char*>(handle.data())};
}

nfs_argop4& NfsCompound::add(nfs_opnum4 operation) {
  nfs_argop4& added = operations_.emplace_back();
  added.argop = operation;
  return added;
}

NfsCompound& NfsCompound::look_up(std::string_view path) {
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (name.empty()) continue;
    add(OP_LOOKUP).nfs_argop4_u.oplookup.objname = {static_cast<u_int>(name.size()), const_cast<char*>(name.data())};
  }
  return *this;
}

NfsCompound& NfsCompound::get_handle() {
  add(OP_GETFH);
  return *this;
}

NfsCompound& NfsCompound::get_attributes() {
  add(OP_GETATTR).nfs_argop4_u.opgetattr.attr_request = {kWanted.size(), const_cast<std::uint32_t*>(kWanted.data())};
  return *this;
}

NfsCompound& NfsCompound::read(std::uint64_t first, std::size_t bytes) {
  READ4args& read = add(OP_READ).nfs_argop4_u.opread;
  read.offset = first;
  read.count = static_cast<count4>(std::min<std::size_t>(bytes, std::numeric_limits<count4>::max()));
  return *this;
}

COMPOUND4args NfsCompound::arguments() {
  COMPOUND4args arguments{};
  arguments.argarray = {static_cast<u_int>(operations_.size()), operations_.data()};
  return arguments;
}

std::optional<std::string> handle_in(const COMPOUND4res& answer) {
  const nfs_resop4* const result = find(answer, OP_GETFH);
  if (result == nullptr) return {};
  const nfs_fh4& handle = result->nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object;
  return std::string(handle.nfs_fh4_val, handle.nfs_fh4_len);
}

std::optional<NfsAttributes> attributes_in(const COMPOUND4res& answer) {
  const nfs_resop4* const result = find(answer, OP_GETATTR);
  if (result == nullptr) return {};
  const fattr4& sent = result->nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes;
  const auto values = std::as_bytes(std::span(sent.attr_vals.attrlist4_val, sent.attr_vals.attrlist4_len));
  constexpr std::size_t kBytes = 4 + 8 + 8 + 4;
  const std::span words(sent.attrmask.bitmap4_val, sent.attrmask.bitmap4_len);
  if (!std::ranges::equal(words, kWanted) || values.size() != kBytes) return {};
  XdrReader reader(values);
  NfsAttributes attributes;
  attributes.kind = kind_of_type(reader.take(4));
  attributes.bytes = reader.take(8);
  attributes.changed_s = reader.take(8);
  attributes.changed_ns = reader.take(4);
  return attributes;
}

std::optional<std::span<const std::byte>> bytes_in(const COMPOUND4res& answer) {
  const nfs_resop4* const result = find(answer, OP_READ);
  if (result == nullptr) return {};
  const auto& data = result->nfs_resop4_u.opread.READ4res_u.resok4.data;
  return std::as_bytes(std::span(data.data_val, data.data_len));
}

NfsFailure failure_of(std::uint32_t status) {
  if (status == NFS4ERR_SYMLINK) {
    return {.reason = "links of the server are not followed: name the folder itself"};
  }
  const auto number = static_cast<int>(status);
  return failure_of(std::abs(nfsstat4_to_errno(number)), nfsstat4_to_str(number));
}

NfsFailure failure_of(int code, const char* reason) {
  constexpr std::array kLasting{ENOENT, EACCES, EPERM, ENOTDIR, EISDIR, EINVAL, ENAMETOOLONG, ELOOP, ENOMEM};
  return {.reason = reason != nullptr && *reason != 0 ? reason : std::strerror(code),
          .is_temporary = std::ranges::find(kLasting, code) == kLasting.end(),
          .is_absent = code == ENOENT || code == ENOTDIR};
}

}  // namespace chexbench::storage
