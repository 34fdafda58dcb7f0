// Prints protobuf's result for each message (a line of hexadecimal digits on stdin): a line "refused", or the features
// by their keys, as JSON.
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include "example.pb.h"

namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string to_hex(const std::string& bytes) {
  std::string hex;
  for (const unsigned char byte : bytes) hex += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return hex;
}

template <typename Values, typename Text>
std::string list_of(const char* kind, const Values& values, Text text) {
  std::string list = std::string("{\"") + kind + "\": [";
  for (int i = 0; i < values.size(); ++i) list += (i > 0 ? ", " : "") + text(values[i]);
  return list + "]}";
}

std::string text_of(const golden::Feature& feature) {
  const auto count = [](auto value) { return std::to_string(value); };
  if (feature.has_bytes_list()) {
    return list_of("bytes", feature.bytes_list().value(), [](const std::string& v) { return '"' + to_hex(v) + '"'; });
  }
  if (feature.has_int64_list()) return list_of("ints", feature.int64_list().value(), count);
  return feature.has_float_list() ? "{\"floats\": " + count(feature.float_list().value_size()) + "}" : "{}";
}

}  // namespace

int main() {
  google::protobuf::SetLogHandler(nullptr);
  for (std::string line; std::getline(std::cin, line);) {
    golden::Example example;
    if (!example.ParseFromString(from_hex(line))) {
      std::cout << "refused\n";
      continue;
    }
    std::map<std::string, std::string> features;  // keys in hexadecimal digits, too
    for (const auto& [key, feature] : example.features().feature()) features[to_hex(key)] = text_of(feature);
    std::cout << '{';
    for (auto at = features.begin(); at != features.end(); ++at) {
      std::cout << (at == features.begin() ? "" : ", ") << '"' << at->first << "\": " << at->second;
    }
    std::cout << "}\n";
  }
}
