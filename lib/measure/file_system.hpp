// The file system that a folder lies on.
#pragma once

#include <string>

#include "measure/system_files.hpp"

namespace chexbench::measure {

enum class FileSystemKind { unknown, local, network, fuse, overlay, memory };

std::string to_string(FileSystemKind kind);

struct FileSystem {
  FileSystemKind kind = FileSystemKind::unknown;
  std::string type;         // "ext4", "nfs4", "fuse.sshfs"
  std::string source;       // "/dev/sda1", "server:/export"
  std::string mount_point;  // as this process sees it
};

// By the deepest mount above `path` (links resolved), as /proc/self/mountinfo lists them: statfs has one number for
// all of FUSE. Everything of kind unknown where the list cannot be read.
FileSystem find_file_system(const std::string& path, const SystemRoots& roots = {});

}  // namespace chexbench::measure
