// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace dpsosp {

/// Tells the thread sanitizer what a parallel loop of oneTBB orders, since it cannot look into that
/// library: what came before the loop happens before every body, and every body before what comes
/// after. Bodies are not ordered among each other. Does nothing in other builds.
class LoopOrder {
 public:
  template <class Body>
  class Ordered {
   public:
    Ordered(LoopOrder& loop, const Body& body) : loop_(&loop), body_(&body) {}
    template <class Range>
    void operator()(const Range& range) const {
      acquired(loop_->begun_);
      (*body_)(range);
      released(loop_->ended_);
    }

   private:
    LoopOrder* loop_;
    const Body* body_;
  };

  /// To be passed to the loop in place of `body`. It keeps a reference to `body`.
  template <class Body>
  Ordered<Body> of(const Body& body) {
    released(begun_);
    return {*this, body};
  }
  /// To be called after the loop.
  void join() { acquired(ended_); }

 private:
#ifdef __SANITIZE_THREAD__
  static void acquired(char& place) { __tsan_acquire(&place); }
  static void released(char& place) { __tsan_release(&place); }
#else
  static void acquired(char&) {}
  static void released(char&) {}
#endif

  char begun_ = 0, ended_ = 0;
};

}  // namespace dpsosp
