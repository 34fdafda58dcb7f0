#include "measure/file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace chexbench::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 14> kNetwork{"nfs",   "nfs4", "cifs",      "smb3", "lustre", "beegfs", "gpfs",
                                                    "pvfs2", "ceph", "glusterfs", "9p",   "afs",    "wekafs", "panfs"};
constexpr std::array<std::string_view, 3> kMemory{"tmpfs", "ramfs", "hugetlbfs"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

FileSystemKind kind_of(const std::string& type) {
  if (holds(kNetwork, type)) return FileSystemKind::network;
  if (holds(kMemory, type)) return FileSystemKind::memory;
  if (type == "overlay") return FileSystemKind::overlay;
  if (type == "fuseblk") return FileSystemKind::local;  // a disk whose driver is a user program: ntfs-3g, exfat
  return type.starts_with("fuse") || type == "virtiofs" ? FileSystemKind::fuse : FileSystemKind::local;
}

// The kernel writes a blank as \040, and other special characters as octal numbers too.
std::string unescape(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && text.find_first_not_of("01234567", i + 1) >= i + 4;
    plain += escaped ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    if (escaped) i += 3;
  }
  return plain;
}

// Parses "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw". A dash ends the optional fields, whose
// number varies.
std::optional<FileSystem> parse_mount(const std::string& line) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string::npos) return {};
  std::istringstream before(line.substr(0, dash));
  std::istringstream after(line.substr(dash + 3));
  std::string skipped;
  FileSystem mount;
  before >> skipped >> skipped >> skipped >> skipped >> mount.mount_point;
  if (!before || !(after >> mount.type >> mount.source)) return {};
  mount.mount_point = unescape(mount.mount_point);
  mount.kind = kind_of(mount.type);
  return mount;
}

// A file system's magic number, as the kernel's linux/magic.h and the file systems' own headers have it.
struct Magic {
  std::uint32_t number;
  const char* type;
};
constexpr std::array kMagic{Magic{0x0000EF53, "ext4"},    Magic{0x58465342, "xfs"},   Magic{0x9123683E, "btrfs"},
                            Magic{0x2FC12FC1, "zfs"},     Magic{0xF2F52010, "f2fs"},  Magic{0x73717368, "squashfs"},
                            Magic{0x01021994, "tmpfs"},   Magic{0x858458F6, "ramfs"}, Magic{0x958458F6, "hugetlbfs"},
                            Magic{0x794C7630, "overlay"}, Magic{0x65735546, "fuse"},  Magic{0x00006969, "nfs"},
                            Magic{0xFF534D42, "cifs"},    Magic{0xFE534D42, "smb3"},  Magic{0x0BD00BD0, "lustre"},
                            Magic{0x19830326, "beegfs"},  Magic{0x47504653, "gpfs"},  Magic{0x00C36400, "ceph"},
                            Magic{0x01021997, "9p"},      Magic{0x5346414F, "afs"}};

// Returns the type and kind of the file system by its magic number, or kind unknown if that is not known here.
FileSystem by_magic(const std::string& path) {
  struct statfs status = {};
  if (statfs(path.c_str(), &status) != 0) return {};
  const auto number = static_cast<std::uint32_t>(status.f_type);
  const auto* const found = std::ranges::find(kMagic, number, &Magic::number);
  if (found == kMagic.end()) return {};
  return {.kind = kind_of(found->type), .type = found->type, .source = {}, .mount_point = {}};
}

bool is_under(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || path.starts_with(folder + "/");
}

}  // namespace

std::string to_string(FileSystemKind kind) {
  switch (kind) {
    case FileSystemKind::local:
      return "local";
    case FileSystemKind::network:
      return "network";
    case FileSystemKind::fuse:
      return "fuse";
    case FileSystemKind::overlay:
      return "overlay";
    case FileSystemKind::memory:
      return "memory";
    case FileSystemKind::unknown:
      break;
  }
  return "unknown";
}

FileSystem find_file_system(const std::string& path, const SystemRoots& roots) {
  std::error_code error;
  const std::string whole = fs::weakly_canonical(fs::absolute(path, error), error).string();
  FileSystem deepest;
  std::ifstream mounts(roots.proc + "/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::optional<FileSystem> mount = parse_mount(line);
    // If several are mounted on one folder, the last one covers the others.
    if (mount && is_under(whole, mount->mount_point) && mount->mount_point.size() >= deepest.mount_point.size())
      deepest = *mount;
  }
  return deepest.mount_point.empty() ? by_magic(path) : deepest;
}

}  // namespace chexbench::measure
