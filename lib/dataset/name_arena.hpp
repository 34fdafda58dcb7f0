// Keeps the names and paths of a data set's images, of which there may be millions.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

namespace chexbench::dataset {

// Copies text into large blocks, one text behind the other: a std::string each would cost 32 bytes and, from 16
// characters on, an allocation. Views stay valid as long as the arena, also when it is moved. Not thread-safe.
class NameArena {
 public:
  // Keeps the parts as one text.
  std::string_view keep(std::initializer_list<std::string_view> parts);
  std::string_view keep(std::string_view text) { return keep({text}); }

 private:
  char* room_for(std::size_t bytes);

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = 0;   // bytes of the last block
  std::size_t bytes_ = 0;  // size of the last block
};

}  // namespace chexbench::dataset
