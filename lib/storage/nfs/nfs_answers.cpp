#include "storage/nfs/nfs_answers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace chexbench::storage {
namespace {

constexpr std::size_t kWordBytes = 4;
constexpr std::size_t kMostAnswerBytes = std::size_t{2} << 20;  // twice what is asked for at once

std::uint32_t word_of(std::span<const std::byte, kWordBytes> bytes) {
  std::uint32_t word = 0;
  for (const std::byte byte : bytes) word = word << 8 | std::to_integer<std::uint32_t>(byte);
  return word;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

void NfsAnswers::lose(const std::string& reason) { throw NfsFailure{.reason = reason, .is_temporary = true}; }

// For the rest of the fragment, or for a mark.
void NfsAnswers::wait(short events) {
  if (const std::string reason = wait_.wait(events, left_); !reason.empty()) lose(reason);
}

void NfsAnswers::send(std::span<const std::byte> requests) {
  while (!requests.empty()) {
    const ssize_t sent = ::send(socket_, requests.data(), requests.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && !would_block() && errno != EINTR) lose(std::strerror(errno));
    if (sent < 0) {
      wait(POLLOUT);
    } else {
      requests = requests.subspan(static_cast<std::size_t>(sent));
    }
  }
}

std::size_t NfsAnswers::receive(std::span<std::byte> into) {
  while (true) {
    const ssize_t got = ::recv(socket_, into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) {
      wait_.count(static_cast<std::size_t>(got));
      return static_cast<std::size_t>(got);
    }
    if (got == 0) lose("the server closed the connection");
    if (!would_block() && errno != EINTR) lose(std::strerror(errno));
    wait(POLLIN);
  }
}

void NfsAnswers::receive_all(std::span<std::byte> into) {
  while (!into.empty()) into = into.subspan(receive(into));
}

bool NfsAnswers::go_on() {
  while (left_ == 0) {
    if (is_last_) return false;
    std::array<std::byte, kWordBytes> mark{};
    receive_all(mark);
    is_last_ = (word_of(mark) & kLastNfsFragment) != 0;
    left_ = word_of(mark) & ~kLastNfsFragment;
    answer_bytes_ += left_;
    if (left_ == 0 && !is_last_) lose("the server sends an empty part of an answer");
    if (answer_bytes_ > kMostAnswerBytes) lose(fmt::format("an answer has more than {} bytes", kMostAnswerBytes));
  }
  return true;
}

void NfsAnswers::begin() {
  is_last_ = false;
  answer_bytes_ = 0;
}

std::size_t NfsAnswers::take_some(std::span<std::byte> into) {
  if (!ready_.empty()) {
    const std::size_t count = std::min(ready_.size(), into.size());
    std::memcpy(into.data(), ready_.data(), count);
    ready_ = ready_.subspan(count);
    return count;
  }
  if (!go_on()) lose("the server sends an answer that ends too early");
  const std::size_t count = receive(into.first(std::min(into.size(), left_)));
  left_ -= count;
  return count;
}

void NfsAnswers::take(std::span<std::byte> into) {
  while (!into.empty()) into = into.subspan(take_some(into));
}

std::uint32_t NfsAnswers::take_word() {
  std::array<std::byte, kWordBytes> word{};
  for (std::span<std::byte> rest = word; !rest.empty(); rest = rest.subspan(take_some(rest))) {
    if (ready_.empty() && go_on()) {
      const std::size_t count = receive(std::span(head_).first(std::min(head_.size(), left_)));
      left_ -= count;
      ready_ = std::span(head_).first(count);
    }
  }
  return word_of(word);
}

std::vector<std::byte> NfsAnswers::take_opaque(std::size_t most) {
  const std::size_t bytes = take_word();
  if (bytes > most) lose(fmt::format("the server sends {} bytes where at most {} are expected", bytes, most));
  std::vector<std::byte> opaque((bytes + kWordBytes - 1) / kWordBytes * kWordBytes);
  take(opaque);
  opaque.resize(bytes);
  return opaque;
}

void NfsAnswers::end() {
  ready_ = {};
  while (go_on()) left_ -= receive(std::span(head_).first(std::min(head_.size(), left_)));
}

}  // namespace chexbench::storage
