// SPDX-License-Identifier: Apache-2.0
#pragma once
// A vector of plain values that grows where it lies, if there is room behind it: realloc may, where
// std::vector always copies to a fresh block.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace ttcheck::formats {

/// References and spans hold until the next call that may grow it. Throws std::bad_alloc.
template <class T>
class TrivialVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  TrivialVector() = default;
  TrivialVector(TrivialVector&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        room_(std::exchange(other.room_, 0)) {}
  TrivialVector& operator=(TrivialVector&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  T& back() { return data_.get()[size_ - 1]; }
  const T& back() const { return data_.get()[size_ - 1]; }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }

  [[gnu::always_inline]] void push_back(T value) {
    if (size_ == room_) grow(1);
    data_.get()[size_++] = value;
  }

  /// REQUIRES values that lie elsewhere.
  void append(std::span<const T> values) {
    if (values.size() > room_ - size_) grow(values.size());
    std::copy(values.begin(), values.end(), end());
    size_ += values.size();
  }

  /// Values that are left out or new.
  void resize(std::size_t size, T value = {}) {
    if (size > room_) grow(size - size_);
    if (size > size_) std::fill(end(), data_.get() + size, value);
    size_ = size;
  }

 private:
  struct Free {
    void operator()(T* block) const { std::free(block); }
  };
  static constexpr std::size_t kFewest = 64;

  [[gnu::noinline]] void grow(std::size_t more) {
    if (more > std::size_t(-1) / sizeof(T) / 2 - size_) throw std::bad_alloc();
    const std::size_t room = std::max({kFewest, 2 * room_, size_ + more});
    void* const block = std::realloc(data_.get(), room * sizeof(T));
    if (block == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(block));
    room_ = room;
  }

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace ttcheck::formats
