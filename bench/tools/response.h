// Reads one HTTP/1.1 response as its bytes come in.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_BYTES 4096
#define CHAT_ENDING "data: [DONE]\n\n"
#define MESSAGES_ENDING "data: {\"type\":\"message_stop\"}\n\n"
#define RESPONSES_LAST_EVENT "event: response.completed\n" // its data has the whole reply
#define ENDING_BYTES (sizeof MESSAGES_ENDING - 1) // the longest one

enum response_part { STATUS_LINE, HEADER_LINE, SIZED_BODY, CHUNK_SIZE_LINE, CHUNK_BODY, CHUNK_END_LINE, TRAILER_LINE };

enum response_state { RESPONSE_PARTIAL, RESPONSE_COMPLETE, RESPONSE_BROKEN };

struct response {
  enum response_part part; // what the next byte belongs to
  int status;
  bool chunked;
  bool event_stream;
  bool last_on_connection;
  bool completed; // the last event of Responses has begun
  uint64_t remaining; // bytes of the body, or of its chunk
  char line[LINE_BYTES];
  size_t line_length;
  char ending[ENDING_BYTES]; // the last bytes of the body
};

// Called with each run of the body's bytes, chunk framing taken off.
typedef void body_handler(void *context, const char *bytes, size_t length);

void response_begin(struct response *response);
enum response_state response_read(struct response *response, const char *bytes, size_t length, body_handler *on_body,
                                  void *context);

// Whether an event stream ended with its end marker, of chat completions, Responses or Messages; true for every other reply.
bool response_finished(const struct response *response);
