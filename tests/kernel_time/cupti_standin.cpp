// A libcupti without a GPU. cuptiActivityFlushAll plays a script, the text file that the environment variable
// CHEXBENCH_CUPTI_STANDIN names. Times are in ns:
//   kernel NAME 100 200 | memcpy 100 200 | memset 100 200    a record, in the order of the lines
//   buffer                                                   the records so far are handed over
//   dropped 3                                                this many records were dropped
//   refuse KIND STATUS                                       cuptiActivityEnable(KIND) returns this status
// Kinds that are not enabled are not recorded. If GRAPH_TRACE is enabled, kernels are not recorded either.
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
std::set<int> enabled;
std::size_t dropped = 0;

template <class Act>
void for_each_line(Act act) {
  const char* const file = std::getenv("CHEXBENCH_CUPTI_STANDIN");
  std::ifstream lines(file != nullptr ? file : "");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    act(key, words);
  }
}

std::size_t size_of(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel9);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy5);
    default:
      return sizeof(CUpti_ActivityMemset4);
  }
}

// The buffer that the client gave to CUPTI, filled record by record.
class Buffer {
 public:
  template <class Record>
  void add(CUpti_ActivityKind kind, std::istringstream& words, const char* name = nullptr) {
    if (!enabled.contains(kind)) return;
    if (bytes_ == nullptr) request(&bytes_, &size_, &most_);
    Record record{};
    record.kind = kind;
    std::uint64_t begin_ns = 0, end_ns = 0;
    words >> begin_ns >> end_ns;
    record.start = begin_ns;
    record.end = end_ns;
    if constexpr (requires { record.name; }) record.name = name;
    std::memcpy(bytes_ + used_, &record, sizeof(record));
    used_ += sizeof(record);
  }
  void hand_over() {
    if (bytes_ != nullptr) complete(nullptr, 0, bytes_, size_, used_);
    *this = {};
  }

 private:
  std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0, used_ = 0, most_ = 0;
};

}  // namespace

extern "C" {
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                           CUpti_BuffersCallbackCompleteFunc on_complete) {
  request = on_request;
  complete = on_complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  CUptiResult result = CUPTI_SUCCESS;
  for_each_line([&](const std::string& key, std::istringstream& words) {
    int refused = 0, status = 0;
    if (key == "refuse" && words >> refused >> status && refused == kind) result = static_cast<CUptiResult>(status);
  });
  if (result == CUPTI_SUCCESS) enabled.insert(kind);
  return result;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + size_of(**record);
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* count) {
  *count = dropped;
  dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  if (flag != CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) return CUPTI_SUCCESS;
  const bool graphs = enabled.contains(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  std::map<std::string, std::string> names;  // CUPTI owns the names of its records
  Buffer buffer;
  for_each_line([&](const std::string& key, std::istringstream& words) {
    if (key == "kernel") {
      std::string name;
      words >> name;
      const char* const kept = names.try_emplace(name, name).first->second.c_str();
      if (!graphs) buffer.add<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, words, kept);
    } else if (key == "memcpy") {
      buffer.add<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY, words);
    } else if (key == "memset") {
      buffer.add<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, words);
    } else if (key == "dropped") {
      words >> dropped;
    } else if (key == "buffer") {
      buffer.hand_over();
    }
  });
  buffer.hand_over();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** words) {
  *words = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "another error";
  return CUPTI_SUCCESS;
}
}
