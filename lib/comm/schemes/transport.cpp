#include "comm/schemes/transport.hpp"

#include "core/half.hpp"

namespace chexbench::comm {
namespace {

template <typename T>
void pack_as(std::span<const float> values, std::span<std::byte> wire) {
  narrow(values, std::span(reinterpret_cast<T*>(wire.data()), values.size()));
}

template <typename T>
void unpack_as(std::span<const std::byte> wire, std::span<float> values) {
  widen(std::span(reinterpret_cast<const T*>(wire.data()), values.size()), values);
}

}  // namespace

void pack(std::span<const float> values, FloatType dtype, std::span<std::byte> wire) {
  dtype == FloatType::fp16 ? pack_as<Half>(values, wire) : pack_as<BFloat16>(values, wire);
}

void unpack(std::span<const std::byte> wire, FloatType dtype, std::span<float> values) {
  dtype == FloatType::fp16 ? unpack_as<Half>(wire, values) : unpack_as<BFloat16>(wire, values);
}

}  // namespace chexbench::comm
