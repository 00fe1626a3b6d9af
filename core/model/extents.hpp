// SPDX-License-Identifier: Apache-2.0
#pragma once
// A short row of numbers, one per dimension. Most arrays have at most three dimensions, and the
// table of a checkpoint holds a handful of such rows for each of a million chunks: up to three
// numbers lie in the object itself and take no block of memory of their own.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace ttcheck {

/// One number per dimension; as a shape: extents >= 0, outermost dimension first; {} is a scalar.
/// Has the part of std::vector's interface that is needed, with its meaning; but a pointer to a
/// number holds no longer than the object stays where it is.
class Extents {
 public:
  using value_type = std::int64_t;
  using iterator = value_type*;
  using const_iterator = const value_type*;

  Extents() = default;
  explicit Extents(std::size_t count, value_type value = 0) { resize(count, value); }
  Extents(std::initializer_list<value_type> values) : Extents(values.begin(), values.end()) {}
  template <std::forward_iterator It>
  Extents(It first, It last) {
    insert(end(), first, last);
  }
  Extents(const Extents& other) : Extents(other.begin(), other.end()) {}
  Extents(Extents&& other) noexcept { take(other); }
  Extents& operator=(const Extents& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  Extents& operator=(Extents&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~Extents() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  value_type* data() { return many_ ? many_.get() : few_.data(); }
  const value_type* data() const { return many_ ? many_.get() : few_.data(); }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  value_type& operator[](std::size_t i) { return data()[i]; }
  const value_type& operator[](std::size_t i) const { return data()[i]; }
  value_type& front() { return *begin(); }
  const value_type& front() const { return *begin(); }
  value_type& back() { return *(end() - 1); }
  const value_type& back() const { return *(end() - 1); }

  void reserve(std::size_t room) {
    if (room <= room_) return;
    if (room > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    auto more = std::make_unique_for_overwrite<value_type[]>(room);
    std::copy(begin(), end(), more.get());
    many_ = std::move(more);
    room_ = static_cast<std::uint32_t>(room);
  }
  void clear() { size_ = 0; }
  void resize(std::size_t count, value_type value = 0) {
    reserve(count);
    if (count > size_) std::fill(end(), data() + count, value);
    size_ = static_cast<std::uint32_t>(count);
  }
  void assign(std::size_t count, value_type value) {
    clear();
    resize(count, value);
  }
  template <std::forward_iterator It>
  void assign(It first, It last) {
    clear();
    insert(end(), first, last);
  }
  void push_back(value_type value) { insert(end(), value); }
  void pop_back() { --size_; }
  iterator insert(const_iterator at, value_type value) { return insert(at, &value, &value + 1); }
  /// REQUIRES values of another object.
  template <std::forward_iterator It>
  iterator insert(const_iterator at, It first, It last) {
    const auto place = static_cast<std::size_t>(at - begin());
    const auto count = static_cast<std::size_t>(std::distance(first, last));
    if (count > room_ - size_) reserve(std::max<std::size_t>(size_ + count, 2 * size_));
    std::copy_backward(begin() + place, end(), end() + count);
    std::copy(first, last, begin() + place);
    size_ += static_cast<std::uint32_t>(count);
    return begin() + place;
  }
  iterator erase(const_iterator first, const_iterator last) {
    const iterator hole = begin() + (first - begin());
    std::copy(last, const_iterator(end()), hole);
    size_ -= static_cast<std::uint32_t>(last - first);
    return hole;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }

  bool operator==(const Extents& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  std::strong_ordering operator<=>(const Extents& other) const {
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr std::uint32_t kFew = 3;

  /// Leaves the other one empty.
  void take(Extents& other) {
    few_ = other.few_;
    many_ = std::move(other.many_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, kFew);
  }

  std::array<value_type, kFew> few_{};
  std::unique_ptr<value_type[]> many_;
  std::uint32_t size_ = 0;
  std::uint32_t room_ = kFew;
};

using Shape = Extents;

}  // namespace ttcheck
