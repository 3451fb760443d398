#define _GNU_SOURCE
#include "request.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATH "POST /v1/"
#define CONTENT_LENGTH "content-length:"

#define PACE "\"bench;"

// Clients and gateways put the members that are looked for before or behind the messages: a long body need not be searched whole.
#define SEARCHED_BYTES 2048

struct text {
  const char *start;
  size_t length;
};

static const char *find(struct text text, const char *needle) {
  return memmem(text.start, text.length, needle, strlen(needle));
}

// The place of `needle` in the end of a body, or else in its start, or NULL.
static const char *find_outside_messages(struct text body, const char *needle) {
  size_t searched = body.length < SEARCHED_BYTES ? body.length : SEARCHED_BYTES;
  const char *found = find((struct text){body.start + body.length - searched, searched}, needle);
  return found || searched == body.length ? found : find((struct text){body.start, searched}, needle);
}

// Whether a body has this member, written without a space or with the one that Python writes.
static bool has_member(struct text body, const char *name, const char *value) {
  char member[128];
  snprintf(member, sizeof member, "\"%s\":%s", name, value);
  if (find_outside_messages(body, member)) return true;
  snprintf(member, sizeof member, "\"%s\": %s", name, value);
  return find_outside_messages(body, member) != NULL;
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
  const char *start = find_outside_messages(body, PACE);
  if (start) {
    size_t rest = body.start + body.length - start;
    memcpy(pace, start, rest < sizeof pace ? rest : sizeof pace - 1);
    *strchrnul(pace + 1, '"') = '\0';
  }
  request->chunks = (int)pace_member(pace, "chunks=", DEFAULT_CHUNKS);
  request->delay_ns = pace_member(pace, "delay-us=", 0) * 1000;
  request->latency_ns = pace_member(pace, "latency-us=", 0) * 1000;
}

// By enum api, as JSON.
static const char *const models[APIS] = {"\"" CHAT_MODEL "\"", "\"" MESSAGES_MODEL "\"", "\"" RESPONSES_MODEL "\""};

static bool asks_at(const char *head, const char *path) {
  return strncmp(head, PATH, strlen(PATH)) == 0 && strncmp(head + strlen(PATH), path, strlen(path)) == 0;
}

enum request_state request_read(struct request *request, const char *bytes, size_t length) {
  const char *blank_line = memmem(bytes, length, "\r\n\r\n", 4);
  if (!blank_line) return REQUEST_PARTIAL;

  size_t head_size = blank_line + 4 - bytes;
  long body_size = content_length((struct text){bytes, head_size});
  if (body_size < 0) return REQUEST_WITHOUT_LENGTH;
  request->size = head_size + (size_t)body_size;
  if (length < request->size) return REQUEST_PARTIAL;

  struct text body = {bytes + head_size, (size_t)body_size};
  request->api = asks_at(bytes, "messages ") ? MESSAGES : asks_at(bytes, "responses ") ? RESPONSES : CHAT;
  request->model_known = has_member(body, "model", models[request->api]);
  request->stream = has_member(body, "stream", "true");
  read_pace(request, body);
  if (request->api == RESPONSES) request->chunks = DEFAULT_CHUNKS;
  return REQUEST_COMPLETE;
}
