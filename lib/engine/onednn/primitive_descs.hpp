// The differences between oneDNN 2 (Debian 12) and 3 (Debian 13): how a primitive is described, and how the description
// of a tensor is read. Arguments are those of oneDNN 3's constructors. All functions let dnnl::error through.
#pragma once

#include <dnnl.hpp>

namespace chexbench::engine::onednn {

// Describes a forward primitive or a product of matrices, such as dnnl::convolution_forward. `arguments` are those
// between the engine and the attributes.
template <typename Primitive, typename... Arguments>
typename Primitive::primitive_desc describe(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                            const Arguments&... arguments) {
  if constexpr (requires { typename Primitive::desc; }) {
    return {typename Primitive::desc(arguments...), attributes, engine};
  } else {
    return {engine, arguments..., attributes};
  }
}

// The same for a backward primitive; `forward` describes its forward one. Without an implementation, the result is
// empty if `allow_empty` is true; otherwise dnnl::error is thrown.
template <typename Primitive, typename Forward, typename... Arguments>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                                     const Forward& forward, bool allow_empty,
                                                     const Arguments&... arguments) {
  if constexpr (requires { typename Primitive::desc; }) {
    return {typename Primitive::desc(arguments...), attributes, engine, forward, allow_empty};
  } else {
    return {engine, arguments..., forward, attributes, allow_empty};
  }
}

template <typename Desc>
dnnl::memory::dims dims_of(const Desc& desc) {
  if constexpr (requires { desc.get_dims(); }) {
    return desc.get_dims();
  } else {
    return desc.dims();
  }
}

template <typename Desc>
dnnl::memory::data_type type_of(const Desc& desc) {
  if constexpr (requires { desc.get_data_type(); }) {
    return desc.get_data_type();
  } else {
    return desc.data_type();
  }
}

}  // namespace chexbench::engine::onednn
