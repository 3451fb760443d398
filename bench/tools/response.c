#define _GNU_SOURCE // memmem
#include "response.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void response_begin(struct response *response) {
  response->part = STATUS_LINE;
  response->status = 0;
  response->chunked = false;
  response->event_stream = false;
  response->last_on_connection = false;
  response->completed = false;
  response->remaining = 0;
  response->line_length = 0;
}

// The value of the header in `line`, or NULL where it is another header.
static const char *header_value(const char *line, const char *name) {
  size_t length = strlen(name);
  if (strncasecmp(line, name, length) != 0 || line[length] != ':') return NULL;
  return line + length + 1 + strspn(line + length + 1, " ");
}

static void read_header(struct response *response, const char *line) {
  const char *value;
  if ((value = header_value(line, "content-length"))) response->remaining = strtoull(value, NULL, 10);
  else if ((value = header_value(line, "transfer-encoding"))) response->chunked = !strcasecmp(value, "chunked");
  else if ((value = header_value(line, "content-type"))) response->event_stream = !strncmp(value, "text/event-stream", 17);
  else if ((value = header_value(line, "connection"))) response->last_on_connection = !strcasecmp(value, "close");
}

static enum response_state end_head(struct response *response) {
  if (response->chunked) response->part = CHUNK_SIZE_LINE;
  else if (response->remaining > 0) response->part = SIZED_BODY;
  else return RESPONSE_COMPLETE;
  return RESPONSE_PARTIAL;
}

static enum response_state read_line(struct response *response, const char *line) {
  switch (response->part) {
  case STATUS_LINE:
    if (strncmp(line, "HTTP/1.1 ", 9) != 0) return RESPONSE_BROKEN;
    response->status = atoi(line + 9);
    response->part = HEADER_LINE;
    return RESPONSE_PARTIAL;
  case HEADER_LINE:
    if (*line == '\0') return end_head(response);
    read_header(response, line);
    return RESPONSE_PARTIAL;
  case CHUNK_SIZE_LINE:
    response->remaining = strtoull(line, NULL, 16);
    response->part = response->remaining > 0 ? CHUNK_BODY : TRAILER_LINE;
    return RESPONSE_PARTIAL;
  case CHUNK_END_LINE:
    response->part = CHUNK_SIZE_LINE;
    return RESPONSE_PARTIAL;
  case TRAILER_LINE:
    return *line == '\0' ? RESPONSE_COMPLETE : RESPONSE_PARTIAL;
  default:
    return RESPONSE_BROKEN;
  }
}

// Takes bytes up to the line's end and reads the line where it is whole. Returns how many bytes were taken.
static size_t take_line(struct response *response, const char *bytes, size_t length, enum response_state *state) {
  const char *newline = memchr(bytes, '\n', length);
  size_t taken = newline ? (size_t)(newline + 1 - bytes) : length;
  if (response->line_length + taken >= LINE_BYTES) {
    *state = RESPONSE_BROKEN;
    return taken;
  }
  memcpy(response->line + response->line_length, bytes, taken);
  response->line_length += taken;
  if (newline) {
    response->line[response->line_length] = '\0';
    response->line[strcspn(response->line, "\r\n")] = '\0';
    response->line_length = 0;
    *state = read_line(response, response->line);
  }
  return taken;
}

static void remember_ending(struct response *response, const char *bytes, size_t length) {
  if (length >= ENDING_BYTES) {
    memcpy(response->ending, bytes + length - ENDING_BYTES, ENDING_BYTES);
  } else {
    memmove(response->ending, response->ending + length, ENDING_BYTES - length);
    memcpy(response->ending + ENDING_BYTES - length, bytes, length);
  }
}

// Whether the last event of Responses begins in these bytes of a body, or before them where it was cut.
static bool begins_last_event(const struct response *response, const char *bytes, size_t length) {
  size_t marker = sizeof RESPONSES_LAST_EVENT - 1;
  if (memmem(bytes, length, RESPONSES_LAST_EVENT, marker) != NULL) return true;
  char seam[2 * ENDING_BYTES];
  size_t head = length < marker ? length : marker;
  memcpy(seam, response->ending, ENDING_BYTES);
  memcpy(seam + ENDING_BYTES, bytes, head);
  return memmem(seam, ENDING_BYTES + head, RESPONSES_LAST_EVENT, marker) != NULL;
}

// Counts the bytes of a body off. Returns how many were taken.
static size_t take_body(struct response *response, const char *bytes, size_t length, enum response_state *state) {
  size_t taken = length < response->remaining ? length : response->remaining;
  if (response->event_stream && !response->completed) response->completed = begins_last_event(response, bytes, taken);
  remember_ending(response, bytes, taken);
  response->remaining -= taken;
  if (response->remaining > 0) return taken;
  if (response->part == SIZED_BODY) *state = RESPONSE_COMPLETE;
  else response->part = CHUNK_END_LINE;
  return taken;
}

enum response_state response_read(struct response *response, const char *bytes, size_t length, body_handler *on_body,
                                  void *context) {
  enum response_state state = RESPONSE_PARTIAL;
  while (length > 0 && state == RESPONSE_PARTIAL) {
    size_t taken;
    if (response->part == SIZED_BODY || response->part == CHUNK_BODY) {
      taken = take_body(response, bytes, length, &state);
      on_body(context, bytes, taken);
    } else {
      taken = take_line(response, bytes, length, &state);
    }
    bytes += taken;
    length -= taken;
  }
  return state;
}

static bool ends_with(const struct response *response, const char *ending) {
  size_t length = strlen(ending);
  return memcmp(response->ending + ENDING_BYTES - length, ending, length) == 0;
}

bool response_finished(const struct response *response) {
  if (!response->event_stream || ends_with(response, CHAT_ENDING) || ends_with(response, MESSAGES_ENDING)) return true;
  return response->completed && ends_with(response, "\n\n");
}
