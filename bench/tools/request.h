// Reads a request: no more of it than the mock upstream needs.
#pragma once
#include "replies.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request {
  size_t size;      // of head and body, in bytes
  enum api api;     // by its path
  bool model_known; // the body names the upstream's own model
  bool stream;
  // The pace, from a text of the body; Responses have no member for one: "bench;chunks=100;delay-us=10000;latency-us=0"
  int chunks;          // content events of a stream
  uint64_t delay_ns;   // between two events
  uint64_t latency_ns; // before the reply's head
};

enum request_state { REQUEST_PARTIAL, REQUEST_COMPLETE, REQUEST_WITHOUT_LENGTH };

// Reads the request at the start of `bytes`.
enum request_state request_read(struct request *request, const char *bytes, size_t length);
