#define _GNU_SOURCE
#include "request.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MESSAGES_LINE "POST /v1/messages "
#define CONTENT_LENGTH "content-length:"

#define PACE "\"bench;"
#define NAMED(model) "\"model\":\"" model "\""

// Clients put the members that are looked for behind the messages: a long body need not be searched from its start.
#define SEARCHED_BYTES 2048

#define DEFAULT_CHUNKS 100

struct text {
  const char *start;
  size_t length;
};

static const char *find(struct text text, const char *needle) {
  return memmem(text.start, text.length, needle, strlen(needle));
}

// The value of the content-length header, or -1.
static long content_length(struct text head) {
  const char *end = head.start + head.length;
  const char *line = head.start;
  while (line < end) {
    if (strncasecmp(line, CONTENT_LENGTH, strlen(CONTENT_LENGTH)) == 0) {
      return strtol(line + strlen(CONTENT_LENGTH), NULL, 10);
    }
    const char *newline = memchr(line, '\n', end - line);
    if (!newline) break;
    line = newline + 1;
  }
  return -1;
}

// The number after `name=` in the pace, or `otherwise`.
static uint64_t pace_member(const char *pace, const char *name, uint64_t otherwise) {
  const char *member = strstr(pace, name);
  return member ? strtoull(member + strlen(name), NULL, 10) : otherwise;
}

static void read_pace(struct request *request, struct text body) {
  char pace[128] = "";
  const char *start = find(body, PACE);
  if (start) {
    size_t rest = body.start + body.length - start;
    memcpy(pace, start, rest < sizeof pace ? rest : sizeof pace - 1);
    *strchrnul(pace + 1, '"') = '\0';
  }
  request->chunks = (int)pace_member(pace, "chunks=", DEFAULT_CHUNKS);
  request->delay_ns = pace_member(pace, "delay-us=", 0) * 1000;
  request->latency_ns = pace_member(pace, "latency-us=", 0) * 1000;
}

enum request_state request_read(struct request *request, const char *bytes, size_t length) {
  const char *blank_line = memmem(bytes, length, "\r\n\r\n", 4);
  if (!blank_line) return REQUEST_PARTIAL;

  size_t head_size = blank_line + 4 - bytes;
  long body_size = content_length((struct text){bytes, head_size});
  if (body_size < 0) return REQUEST_WITHOUT_LENGTH;
  request->size = head_size + (size_t)body_size;
  if (length < request->size) return REQUEST_PARTIAL;

  size_t searched = body_size < SEARCHED_BYTES ? (size_t)body_size : SEARCHED_BYTES;
  struct text body = {bytes + request->size - searched, searched};
  request->api = strncmp(bytes, MESSAGES_LINE, strlen(MESSAGES_LINE)) == 0 ? MESSAGES : CHAT;
  request->model_known = find(body, request->api == MESSAGES ? NAMED(MESSAGES_MODEL) : NAMED(CHAT_MODEL)) != NULL;
  request->stream = request->api == MESSAGES || find(body, "\"stream\":true") != NULL;
  read_pace(request, body);
  return REQUEST_COMPLETE;
}
