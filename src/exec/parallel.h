#pragma once
// A few threads that work through numbered tasks together.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace solar::exec {

class ThreadTeam {
 public:
  /// `threads` counts the caller; at least 1.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(member) once in every thread, member 0 in the caller, and returns when all have.
  void run(const std::function<void(int member)>& work);

 private:
  void serve(int member);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int)>* work_ = nullptr;
  uint64_t round_ = 0;
  size_t running_ = 0;
  bool stop_ = false;
};

/// Hands out tasks 0 .. count-1 in ascending chunks. After fail(t), tasks beyond t are no longer
/// handed out, those before it are: the failure with the smallest number does not depend on timing.
class TaskQueue {
 public:
  TaskQueue(int64_t count, int64_t chunk) : limit_(count), chunk_(chunk) {}

  struct Chunk {
    int64_t begin = 0;
    int64_t end = 0;
  };
  /// An empty chunk when there is nothing left.
  Chunk next() {
    const int64_t begin = next_.fetch_add(chunk_);
    const int64_t end = std::min(begin + chunk_, limit_.load());
    return begin < end ? Chunk{begin, end} : Chunk{};
  }
  bool wanted(int64_t task) const { return task < limit_.load(std::memory_order_relaxed); }
  /// True if this is the failure with the smallest number so far.
  bool fail(int64_t task) {
    int64_t limit = limit_.load();
    while (task < limit) {
      if (limit_.compare_exchange_weak(limit, task)) return true;
    }
    return false;
  }

 private:
  std::atomic<int64_t> next_ = 0;
  std::atomic<int64_t> limit_;
  int64_t chunk_;
};

}  // namespace solar::exec
