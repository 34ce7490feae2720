#include "exec/parallel.h"

#include <algorithm>
#include <system_error>

namespace solar::exec {

ThreadTeam::ThreadTeam(int threads) {
  for (int member = 1; member < threads; ++member) {
    try {
      threads_.emplace_back([this, member] { serve(member); });
    } catch (const std::system_error&) {
      break;  // the system gives no more threads: work with those there are
    }
  }
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::run(const std::function<void(int)>& work) {
  if (threads_.empty()) return work(0);
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    running_ = threads_.size();
    ++round_;
  }
  start_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
}

void ThreadTeam::serve(int member) {
  uint64_t seen = 0;
  while (true) {
    const std::function<void(int)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      work = work_;
    }
    (*work)(member);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace solar::exec
