// Packs values into bytes for other ranks of the same job, which run the same build, and unpacks them there: numbers
// and plain structs as in memory, texts and lists after their size, records field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::results {

// A visitor of fields that appends their values to bytes.
struct Packer {
  std::string& bytes;

  template <class Value>
  void operator()(const char* /*name*/, const Value& value) const {
    put(value);
  }

  template <class Value>
  void put(const Value& value) const {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      visit_fields(*this, value);
      if constexpr (requires { visit_lists(*this, value); }) visit_lists(*this, value);
    }
  }
  template <class Value>
  void put(const std::optional<Value>& value) const {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class Value>
  void put(const std::vector<Value>& values) const {
    put(std::uint64_t{values.size()});
    for (const Value& value : values) put(value);
  }
  void put(const std::string& text) const {
    put(std::uint64_t{text.size()});
    bytes += text;
  }
};

// A visitor of fields that reads their values from the bytes of a Packer of the same record. @throws DeviceError if
// there are too few
struct Unpacker {
  std::string_view& rest;

  template <class Value>
  void operator()(const char* /*name*/, Value& value) const {
    take(value);
  }

  template <class Value>
  void take(Value& value) const {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      std::memcpy(&value, next(sizeof value).data(), sizeof value);
    } else {
      visit_fields(*this, value);
      if constexpr (requires { visit_lists(*this, value); }) visit_lists(*this, value);
    }
  }
  template <class Value>
  void take(std::optional<Value>& value) const {
    bool has_value = false;
    take(has_value);
    if (has_value) take(value.emplace());
  }
  template <class Value>
  void take(std::vector<Value>& values) const {
    std::uint64_t size = 0;
    take(size);
    if (size > rest.size()) fail();  // an element takes at least one byte
    values.resize(size);
    for (Value& value : values) take(value);
  }
  void take(std::string& text) const {
    std::uint64_t size = 0;
    take(size);
    text = next(size);
  }

  std::string_view next(std::uint64_t size) const {
    if (size > rest.size()) fail();
    const std::string_view bytes = rest.substr(0, size);
    rest.remove_prefix(size);
    return bytes;
  }
  [[noreturn]] static void fail() {
    throw DeviceError("the ranks run different builds of chexbench: start the same one on all hosts");
  }
};

template <class Value>
std::string packed(const Value& value) {
  std::string bytes;
  Packer{bytes}.put(value);
  return bytes;
}

// @throws DeviceError if the bytes are not those of such a value
template <class Value>
Value unpacked(std::string_view bytes) {
  Value value;
  Unpacker{bytes}.take(value);
  if (!bytes.empty()) Unpacker::fail();
  return value;
}

}  // namespace chexbench::results
