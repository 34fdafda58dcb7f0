#include "measure/data_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/text.hpp"
#include "measure/subprocess.hpp"

namespace chexbench::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 100000;
constexpr std::size_t kSampledFiles = 64;
constexpr double kCold = 0.05;
constexpr double kWarm = 0.95;

std::vector<std::string> files_under(const std::string& root) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, error);
  for (std::size_t seen = 0; !error && entry != fs::recursive_directory_iterator{} && seen < kMostEntries; ++seen) {
    std::error_code odd;  // set if the entry was removed meanwhile
    if (entry->is_regular_file(odd) && !odd) files.push_back(entry->path().string());
    entry.increment(error);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

double DataPlace::cached_share() const {
  return sample.bytes == 0 ? 0 : static_cast<double>(sample.resident_bytes) / static_cast<double>(sample.bytes);
}

std::string DataPlace::cache_word() const {
  if (sample.bytes == 0) return "not known";
  if (cached_share() < kCold) return "cold";
  return cached_share() > kWarm ? "warm" : "partly cached";
}

DataPlace look_at_data(const std::string& root, const SystemRoots& roots) {
  std::error_code error;
  if (!fs::is_directory(root, error)) throw DataError(fmt::format("{}: no such folder", root));
  return {.root = root,
          .file_system = find_file_system(root, roots),
          .sample = look_at_page_cache(evenly(files_under(root), kSampledFiles))};
}

namespace {

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

// A file system's magic number, from the kernel's linux/magic.h and the file systems' own headers.
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

// Returns the type and kind of the file system by its magic number, or kind unknown if that is not in the table.
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

namespace {

using Stripes = std::vector<Stripe>;

std::string stripe_text(const Stripe& stripe) {
  constexpr std::uint64_t kKibibyte = 1024;
  const std::string chunk = fmt::format("{} KiB", stripe.chunk_bytes / kKibibyte);
  if (!stripe.targets) return fmt::format("blocks of {} over all disks", chunk);
  if (*stripe.targets < 0) return fmt::format("{} on every target, round-robin", chunk);
  if (*stripe.targets == 1) return "one target";
  return fmt::format("{} on each of {} targets, round-robin", chunk, *stripe.targets);
}

// "512K", "1M" and "4194304".
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::optional<std::uint64_t> number = take_number<std::uint64_t>(text);
  const std::string unit = lower_case(text.substr(0, 1));
  const std::uint64_t factor = unit.empty() ? 1 : unit == "k" ? 1u << 10 : unit == "m" ? 1u << 20 : 0;
  if (!number || factor == 0 || *number > std::numeric_limits<std::uint64_t>::max() / factor) return {};
  return *number * factor;
}

// Parses "stripe_count: 4 stripe_size: 1048576 ...", which is called lmm_stripe_count in a layout of several parts.
Stripes parse_lustre(const std::string& output) {
  Stripes stripes;
  std::istringstream words(output);
  for (std::string word, value; words >> word;) {
    if (word.ends_with("stripe_count:") && words >> value) stripes.push_back({.targets = parse_number<int>(value)});
    if (word.ends_with("stripe_size:") && words >> value && !stripes.empty())
      stripes.back().chunk_bytes = parse_bytes(value).value_or(0);
  }
  return stripes;
}

// Parses lines such as " -B  4194304  Block size". A file is spread over all disks of its pool.
Stripes parse_gpfs(const std::string& output) {
  Stripes stripes;
  std::istringstream lines(output);
  for (std::string line, flag, value; std::getline(lines, line);) {
    std::istringstream words(line);
    if (!(words >> flag >> value) || line.find("Block size") == std::string::npos) continue;
    const std::optional<std::uint64_t> bytes = parse_bytes(flag == "-B" ? value : flag);
    if (bytes) stripes.push_back({.targets = {}, .chunk_bytes = *bytes});
  }
  return stripes;
}

// Parses lines such as "+ Chunksize: 512K" and "+ Number of storage targets: desired: 4; actual: 4".
Stripes parse_beegfs(const std::string& output) {
  Stripe stripe;
  std::istringstream words(output);
  for (std::string word, value; words >> word;) {
    if (word == "Chunksize:" && words >> value) stripe.chunk_bytes = parse_bytes(value).value_or(0);
    if (word == "desired:" && words >> value) stripe.targets = parse_number<int>(value.substr(0, value.find(';')));
  }
  return stripe == Stripe{} ? Stripes{} : Stripes{stripe};
}

struct Question {
  std::vector<std::string> command;
  std::string name;  // the part of the command that a person would type to ask
};

struct KnownSystem {
  const char* name;
  std::vector<Question> questions;  // the next one is a fallback if this one's program is missing
  Stripes (*parse)(const std::string& output);
};

std::optional<KnownSystem> known_system(const FileSystem& system, const std::string& path) {
  if (system.type == "lustre")
    return KnownSystem{"Lustre", {{{"lfs", "getstripe", "-d", path}, "lfs getstripe"}}, parse_lustre};
  if (system.type == "beegfs")
    return KnownSystem{"BeeGFS",
                       {{{"beegfs-ctl", "--getentryinfo", path}, "beegfs-ctl --getentryinfo"},
                        {{"beegfs", "entry", "info", "--retro", path}, "beegfs entry info"}},
                       parse_beegfs};
  if (system.type != "gpfs") return {};
  const std::string device = system.source.substr(system.source.rfind('/') + 1);
  return KnownSystem{"GPFS",
                     {{{"mmlsfs", device, "-B"}, "mmlsfs"}, {{"/usr/lpp/mmfs/bin/mmlsfs", device, "-B"}, "mmlsfs"}},
                     parse_gpfs};
}

}  // namespace

std::string stripes_text(const Striping& striping) {
  std::vector<std::string> parts;
  for (const Stripe& stripe : striping.stripes) parts.push_back(stripe_text(stripe));
  return fmt::format("{}", fmt::join(parts, ", then "));
}

std::optional<Striping> find_striping(const FileSystem& system, const std::string& path, double patience_s) {
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error).string();  // so it cannot look like an option
  const std::optional<KnownSystem> known = known_system(system, whole);
  if (!known) return {};
  Striping striping{.system = known->name, .tool = {}, .stripes = {}, .problem = {}};
  std::vector<std::string> missing;
  for (const Question& question : known->questions) {
    const ToolAnswer answer = ask_tool(question.command, patience_s);
    if (answer.is_missing) {
      if (missing.empty() || missing.back() != answer.problem) missing.push_back(answer.problem);
      continue;
    }
    striping.tool = question.name;
    striping.problem = answer.problem;
    if (answer.problem.empty()) striping.stripes = known->parse(answer.output);
    if (answer.problem.empty() && striping.stripes.empty())
      striping.problem = fmt::format("{} does not mention it", question.name);
    return striping;
  }
  striping.problem = fmt::format("{}", fmt::join(missing, ", and "));
  return striping;
}

}  // namespace chexbench::measure
