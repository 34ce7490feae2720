#pragma once
// A list that is nearly always short: the first elements need no allocation.

#include <array>
#include <cstddef>
#include <vector>

namespace solar::bound {

template <class T, size_t kInline = 6>
class Few {
 public:
  void push_back(const T& value) {
    if (size_ < kInline) {
      near_[size_++] = value;
      return;
    }
    if (size_ == kInline) far_.assign(near_.begin(), near_.end());
    far_.push_back(value);
    ++size_;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return size_ <= kInline ? near_.data() : far_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return size_ <= kInline ? near_.data() : far_.data(); }
  const T* end() const { return begin() + size_; }
  T& operator[](size_t i) { return begin()[i]; }
  const T& operator[](size_t i) const { return begin()[i]; }
  T& back() { return begin()[size_ - 1]; }

 private:
  std::array<T, kInline> near_ = {};
  std::vector<T> far_ = {};
  size_t size_ = 0;
};

}  // namespace solar::bound
