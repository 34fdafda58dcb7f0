// Compounds of NFSv4 (RFC 7530): several operations on one file that a server answers at once. libnfs's own functions
// take three round trips for one compound here, and request the names of a file's owner and group, which libnfs then
// looks up among this machine's users, with dozens of system calls each.
#pragma once

#include <nfsc/libnfs-raw-nfs4.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/nfs/nfs_store.hpp"

namespace chexbench::storage {

// The operations of one request, in their order. Keeps views of its arguments until it is sent.
class NfsCompound {
 public:
  // Begins at the root of the server, or in a folder by its handle.
  NfsCompound();
  explicit NfsCompound(std::string_view handle);

  // Goes down the names of `path`, which are separated by '/'. Links are not followed: the server refuses paths through
  // one.
  NfsCompound& look_up(std::string_view path);
  NfsCompound& get_handle();
  NfsCompound& get_attributes();
  // Reads up to `bytes` bytes from `first` on, without opening the file, by the anonymous stateid.
  NfsCompound& read(std::uint64_t first, std::size_t bytes);

  // The request as libnfs encodes it; valid as long as the compound does not change.
  COMPOUND4args arguments();

 private:
  nfs_argop4& add(nfs_opnum4 operation);

  std::vector<nfs_argop4> operations_;
};

// The results in an answer of status NFS4_OK, or std::nullopt if the server left them out or sent them malformed.
std::optional<std::string> handle_in(const COMPOUND4res& answer);
std::optional<NfsAttributes> attributes_in(const COMPOUND4res& answer);
std::optional<std::span<const std::byte>> bytes_in(const COMPOUND4res& answer);

// The meaning of an answer with a status other than NFS4_OK. A server may send any number, and no value outside of its
// range may become an nfsstat4.
NfsFailure failure_of(std::uint32_t status);
// The failure of an errno, by its own text unless there is a reason. Some are not fixed by another connection or a
// later try; libnfs reports NFSv4's own states (grace, expired) as ERANGE, which is temporary.
NfsFailure failure_of(int code, const char* reason);

}  // namespace chexbench::storage
