#include "spec/safetensors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "core/errors.hpp"
#include "core/half.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "spec/document.hpp"

namespace chexbench::spec {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian, and read as they are");
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::size_t kMostReason = 400;                 // bytes of the JSON library's message, which quotes the header
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // the format's own limit
const std::map<std::string, std::uint64_t> kTypeBytes = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
    {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"I64", 8},     {"U64", 8}, {"F64", 8}};

struct Mapping {
  std::shared_ptr<const void> memory;
  std::span<const std::byte> bytes;
};

Mapping map_file(const std::string& path, const std::string& where) {
  const auto fail = [&](const std::string& reason) {
    throw DataError(fmt::format("{}: cannot be read: {}", where, reason));
  };
  std::error_code error;
  // The type is checked before the file is opened, because opening a FIFO would block until it has a writer.
  if (!std::filesystem::is_regular_file(path, error)) fail(error ? error.message() : "not a regular file");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(std::strerror(errno));
  struct stat state = {};
  const bool known = ::fstat(descriptor, &state) == 0;
  const auto bytes = static_cast<std::size_t>(state.st_size);
  void* const memory = known && bytes > 0 ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  const int reason = errno;
  ::close(descriptor);
  if (memory == MAP_FAILED) fail(bytes == 0 ? "it is empty" : std::strerror(reason));
  return {{memory, [bytes](const void* mapped) { ::munmap(const_cast<void*>(mapped), bytes); }},
          {static_cast<const std::byte*>(memory), bytes}};
}

// Parses the header and throws if an object contains a name twice, which the JSON library would accept.
Json parse_header(const char* begin, const char* end) {
  std::vector<std::set<std::string>> names;
  return Json::parse(begin, end, [&names](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second) {
      throw DataError(fmt::format("'{}' appears twice", shown(parsed.get<std::string>())));
    }
    return true;
  });
}

template <typename Number>
std::string shown_shape(const std::vector<Number>& shape) {
  return shown(fmt::format("{}", shape));
}

// Returns the numbers of a list. The library would cast 1e300 and -1 to unsigned ones.
std::vector<std::uint64_t> whole_numbers(const Json& list, const char* what) {
  std::vector<std::uint64_t> numbers;
  const bool is_list = list.is_array() && std::ranges::all_of(list, &Json::is_number_unsigned);
  if (!is_list) throw DataError(fmt::format("its {} is not a list of whole numbers from 0 on", what));
  for (const Json& number : list) numbers.push_back(number.get<std::uint64_t>());
  return numbers;
}

// Returns a tensor's size in bytes, or std::nullopt if it does not fit in 64 bits.
std::optional<std::uint64_t> bytes_of(const std::string& type, const std::vector<std::uint64_t>& shape) {
  const auto found = kTypeBytes.find(type);
  if (found == kTypeBytes.end()) throw DataError(fmt::format("its dtype '{}' is not one of the format's", shown(type)));
  std::uint64_t bytes = found->second;
  for (const std::uint64_t side : shape) {
    if (__builtin_mul_overflow(bytes, side, &bytes)) return std::nullopt;
  }
  return bytes;
}

// Returns what a file in another format is, and how to fix that.
std::string what_else(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  constexpr const char* kConvert = "make a safetensors file of it: scripts/weights NETWORK FILE OUTPUT.safetensors";
  if (text.starts_with("version https://") && text.substr(0, kMostReason).find("oid sha256:") != text.npos)
    return "a pointer of Git LFS, not the file that it stands for; fetch that by git lfs pull";
  if (text.starts_with("PK\x03\x04")) return fmt::format("a ZIP file, as PyTorch saves weights; {}", kConvert);
  if (text.starts_with('\x80')) return fmt::format("a pickle, as PyTorch saves weights; {}", kConvert);
  return fmt::format("it begins with '{}'", printable(text.substr(0, 20), 80));
}

template <typename Value>
void widen_bytes(std::span<const std::byte> bytes, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Value value;
    std::memcpy(&value, bytes.data() + i * sizeof(Value), sizeof(Value));
    if constexpr (std::is_floating_point_v<Value>) {
      values[i] = static_cast<float>(value);
    } else {
      values[i] = to_float(value);
    }
  }
}

const std::map<std::string, void (*)(std::span<const std::byte>, std::span<float>)> kReaders = {
    {"F32", widen_bytes<float>},
    {"F16", widen_bytes<Half>},
    {"BF16", widen_bytes<BFloat16>},
    {"F64", widen_bytes<double>}};

}  // namespace

Safetensors::Safetensors(const std::string& path, const std::string& subject)
    : where_(fmt::format("{}: {}", subject, path)) {
  const Mapping file = map_file(path, where_);
  mapping_ = file.memory;
  read_header(file.bytes);
}

Safetensors::Safetensors(std::span<const std::byte> file, std::string where) : where_(std::move(where)) {
  read_header(file);
}

void Safetensors::refuse_header(const std::string& tensor, const std::string& reason) const {
  const std::string place = tensor.empty() ? "" : fmt::format(", at '{}'", shown(tensor));
  throw DataError(fmt::format("{}: damaged header{}: {}", where_, place, reason));
}

void Safetensors::read_header(std::span<const std::byte> file) {
  std::uint64_t header_bytes = 0;
  if (file.size() >= kLengthBytes) std::memcpy(&header_bytes, file.data(), kLengthBytes);
  const bool begins = file.size() > kLengthBytes && file[kLengthBytes] == std::byte{'{'};
  if (!begins || header_bytes > std::min(file.size() - kLengthBytes, kMostHeaderBytes)) {
    throw DataError(fmt::format("{}: not a safetensors file{}: {}", where_,
                                begins ? fmt::format(", its header would be {} bytes long", header_bytes) : "",
                                what_else(file)));
  }
  const auto data = file.subspan(kLengthBytes + header_bytes);
  std::string name;
  try {
    const auto* const begin = reinterpret_cast<const char*>(file.data()) + kLengthBytes;
    const Json header = parse_header(begin, begin + header_bytes);
    if (!header.is_object()) throw DataError("it is not an object");
    for (const auto& item : header.items()) {
      name = item.key();
      if (name == "__metadata__") {
        metadata_ = item.value().get<std::map<std::string, std::string>>();
        continue;
      }
      const std::vector<std::uint64_t> shape = whole_numbers(item.value().at("shape"), "shape");
      const std::vector<std::uint64_t> place = whole_numbers(item.value().at("data_offsets"), "data_offsets");
      if (place.size() != 2) throw DataError("its data_offsets are not two");
      const auto type = item.value().at("dtype").get<std::string>();
      if (place[0] > place[1] || place[1] > data.size()) {
        throw DataError(
            fmt::format("its bytes {} to {} lie beyond the {} that the file has", place[0], place[1], data.size()));
      }
      if (bytes_of(type, shape) != place[1] - place[0]) {
        throw DataError(fmt::format("{} {} does not fill its {} bytes", type, shown_shape(shape), place[1] - place[0]));
      }
      tensors_[name] = {type, {shape.begin(), shape.end()}, data.subspan(place[0], place[1] - place[0])};
    }
  } catch (const Json::exception& wrong) {
    refuse_header(name, printable(wrong.what(), kMostReason));
  } catch (const DataError& wrong) {
    refuse_header(name, wrong.what());
  }
  check_places(data);
}

// Checks that each byte of the data belongs to exactly one tensor, as the format requires: there are no hidden and no
// shared bytes.
void Safetensors::check_places(std::span<const std::byte> data) const {
  std::vector<std::pair<std::span<const std::byte>, std::string>> places;
  for (const auto& [name, entry] : tensors_) places.emplace_back(entry.bytes, name);
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.data(), a.first.size()) < std::pair(b.first.data(), b.first.size());
  });
  const std::byte* end = data.data();
  for (const auto& [bytes, name] : places) {
    if (bytes.data() != end) {
      throw DataError(fmt::format("{}: tensor '{}' {}", where_, shown(name),
                                  bytes.data() < end ? "overlaps the one before it" : "leaves a gap before it"));
    }
    end = bytes.data() + bytes.size();
  }
  if (end != data.data() + data.size()) {
    throw DataError(
        fmt::format("{}: {} bytes after the last tensor belong to none", where_, data.data() + data.size() - end));
  }
}

std::optional<std::string> Safetensors::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::int64_t> Safetensors::shape(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? std::vector<std::int64_t>() : found->second.shape;
}

void Safetensors::read(const std::string& name, const std::vector<std::int64_t>& shape, std::span<float> values) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, entry] : tensors_) names.push_back(known);
    const std::string nearest = nearest_name(name, names);  // not all of them: a header may contain any number
    const std::string known =
        nearest.empty() ? fmt::format("; it has {}", names.size()) : fmt::format(" (did you mean '{}'?)", nearest);
    throw DataError(fmt::format("{} has no tensor '{}'{}", where_, shown(name), known));
  }
  const Entry& entry = found->second;
  const auto take = kReaders.find(entry.type);
  if (take == kReaders.end() || entry.shape != shape ||
      entry.bytes.size() != values.size() * kTypeBytes.at(entry.type)) {
    throw DataError(fmt::format("{}: tensor '{}' is {} {}, the model needs F32 (or F16, BF16, F64) {}", where_,
                                shown(name), entry.type, shown_shape(entry.shape), shown_shape(shape)));
  }
  take->second(entry.bytes, values);
}

namespace {

// The parts that DistributedDataParallel, torch.compile and FSDP insert into the names of wrapped modules, at any
// level.
constexpr std::string_view kWrappers[] = {"module.", "_orig_mod.", "_fsdp_wrapped_module."};

std::string unwrapped(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, std::min(name.find('.'), name.size() - 1) + 1);
    if (std::ranges::find(kWrappers, part) == std::end(kWrappers)) plain += part;
    name.remove_prefix(part.size());
  }
  return plain;
}

// Counts the parameters found under each prefix.
template <typename Entries>
std::map<std::string, std::size_t> count_prefixes(const Entries& entries, const std::vector<std::string>& parameters) {
  const std::set<std::string, std::less<>> wanted(parameters.begin(), parameters.end());
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, entry] : entries) {
    for (std::size_t at = 0; at < name.size(); at = std::min(name.find('.', at), name.size() - 1) + 1) {
      if (wanted.contains(std::string_view(name).substr(at))) ++counts[name.substr(0, at)];
    }
  }
  return counts;
}

}  // namespace

Safetensors Safetensors::named_as(const std::vector<std::string>& parameters) const {
  Safetensors named = *this;
  std::erase_if(named.tensors_, [](const auto& one) { return unwrapped(one.first) != one.first; });
  for (const auto& [name, entry] : tensors_) named.tensors_.try_emplace(unwrapped(name), entry);
  const std::map<std::string, std::size_t> counts = count_prefixes(named.tensors_, parameters);
  const auto plain = counts.find("");
  if (plain != counts.end() && 2 * plain->second >= parameters.size()) return named;
  const auto best = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  if (best == counts.end() || 2 * best->second < parameters.size()) return named;
  const auto other =
      std::find_if(std::next(best), counts.end(), [&](const auto& one) { return one.second == best->second; });
  if (other != counts.end()) {
    throw DataError(fmt::format("{}: it has the network twice, under '{}' and under '{}': keep one of them", where_,
                                shown(best->first), shown(other->first)));
  }
  const std::map<std::string, Entry> prefixed = named.tensors_;
  for (const auto& [name, entry] : prefixed) {
    if (name.starts_with(best->first)) named.tensors_[name.substr(best->first.size())] = entry;
  }
  return named;
}

namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian, and written as it is");
constexpr std::size_t kAlignment = 8;  // bytes, of the first tensor, as the format's reference library aligns it

template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string header_of(const std::vector<TensorToWrite>& tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = {{"__metadata__", metadata}};
  std::uint64_t begin = 0;
  for (const TensorToWrite& tensor : tensors) {
    const std::uint64_t end = begin + tensor.count() * (tensor.fill ? sizeof(float) : sizeof(std::int64_t));
    header[tensor.name] = {
        {"dtype", tensor.fill ? "F32" : "I64"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

std::uint64_t TensorToWrite::count() const {
  std::uint64_t count = 1;
  for (const std::int64_t side : shape) count *= static_cast<std::uint64_t>(side);
  return count;
}

void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  write_file_atomically(path, [&](const WritePiece& write) {
    const std::string header = header_of(tensors, metadata);
    write(bytes_of(std::vector<std::uint64_t>{header.size()}));
    write(header);
    std::vector<float> values;
    for (const TensorToWrite& tensor : tensors) {
      if (!tensor.fill) {
        write(bytes_of(std::vector<std::int64_t>{tensor.scalar}));
        continue;
      }
      values.resize(tensor.count());
      tensor.fill(values);
      write(bytes_of(values));
    }
  });
}

}  // namespace chexbench::spec
