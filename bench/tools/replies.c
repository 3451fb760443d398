#define _GNU_SOURCE
#include "replies.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CONTENT_BYTES 200 // of a whole reply
#define EVENT_BYTES 250   // of a content event of chat completions
#define DELTA_BYTES 140   // of a content event of Messages
#define STAMP_DIGITS 20
#define ZERO_STAMP "00000000000000000000"
#define LAST_CHUNK "0\r\n\r\n"

#define COMMON(object) "\"id\":\"chatcmpl-bench\",\"object\":\"" object "\",\"created\":1700000000,\"model\":\"" CHAT_MODEL "\""
#define CHUNK "data: {" COMMON("chat.completion.chunk")

#define FINISH_EVENT CHUNK ",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n"
#define USAGE_EVENT \
  CHUNK ",\"choices\":[],\"usage\":{\"prompt_tokens\":200,\"completion_tokens\":100,\"total_tokens\":300}}\n\n"
#define DONE_EVENT "data: [DONE]\n\n"

#define CONTENT_EVENT_START \
  CHUNK ",\"system_fingerprint\":\"fp_" ZERO_STAMP "\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" tok"
#define CONTENT_EVENT_END "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"

// Anthropic names the type of an event twice.
#define MESSAGES_EVENT(type, rest) "event: " type "\ndata: {\"type\":\"" type "\"" rest "}\n\n"
#define MESSAGE_START_EVENT \
  MESSAGES_EVENT("message_start", ",\"message\":{\"model\":\"" MESSAGES_MODEL "\",\"id\":\"msg_bench\",\"type\":\"message\"," \
                 "\"role\":\"assistant\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{" \
                 "\"input_tokens\":200,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0," \
                 "\"output_tokens\":1,\"service_tier\":\"standard\"}}")
#define BLOCK_START_EVENT \
  MESSAGES_EVENT("content_block_start", ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}")
#define PING_EVENT MESSAGES_EVENT("ping", "")
#define BLOCK_STOP_EVENT MESSAGES_EVENT("content_block_stop", ",\"index\":0")
#define MESSAGE_DELTA_EVENT \
  MESSAGES_EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{" \
                 "\"input_tokens\":200,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0," \
                 "\"output_tokens\":100}")
#define MESSAGE_STOP_EVENT MESSAGES_EVENT("message_stop", "")

#define DELTA_EVENT_START \
  "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0," \
  "\"delta\":{\"type\":\"text_delta\",\"text\":\" tok"
#define DELTA_EVENT_END "\"}}\n\n"

// OpenAI names the type of an event twice too, and repeats the text in each of the last four events (recorded in 2026-10).
#define RESPONSES_EVENT(type, rest) "event: " type "\ndata: {\"type\":\"" type "\",\"sequence_number\":4," rest "}\n\n"
#define RESPONSE(status, output, usage) "\"response\":" RESPONSE_OBJECT(status, output, usage)
#define RESPONSE_OBJECT(status, output, usage) \
  "{\"id\":\"resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b\",\"object\":\"response\"," \
  "\"created_at\":1756315696,\"status\":\"" status "\",\"background\":false,\"error\":null,\"incomplete_details\":null," \
  "\"instructions\":null,\"max_output_tokens\":512,\"model\":\"" RESPONSES_MODEL "\",\"output\":[" output "]," \
  "\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":\"medium\",\"summary\":null}," \
  "\"service_tier\":\"default\",\"store\":false,\"temperature\":0.7,\"text\":{\"format\":{\"type\":\"text\"}}," \
  "\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":" usage "," \
  "\"user\":null,\"metadata\":{}}"
#define ITEM_ID "msg_68af40a27f9c8193b8be6c4d1aaf36e905438e46b5f69a3b"
#define ITEM(status, content) \
  "{\"id\":\"" ITEM_ID "\",\"type\":\"message\",\"status\":\"" status "\",\"role\":\"assistant\",\"content\":[" content "]}"
#define PART(text) "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"" text "\"}"
#define IN_PART "\"item_id\":\"" ITEM_ID "\",\"output_index\":0,\"content_index\":0,"
#define RESPONSES_TOKEN " tokxxxxxxxxxxxxxxxxxxxxxx" // as long as that of Messages
#define RESPONSES_DELTA_EVENT \
  RESPONSES_EVENT("response.output_text.delta", \
                  IN_PART "\"delta\":\"" RESPONSES_TOKEN "\",\"logprobs\":[],\"obfuscation\":\"x2tAyQhcJq\"")
#define RESPONSES_USAGE \
  "{\"input_tokens\":200,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":100," \
  "\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":300}"

#define COMPLETION_START \
  "{" COMMON("chat.completion") ",\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":[{\"index\":0," \
  "\"message\":{\"role\":\"assistant\",\"content\":\""
#define COMPLETION_END \
  "\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":200," \
  "\"completion_tokens\":50,\"total_tokens\":250,\"completion_tokens_details\":{\"reasoning_tokens\":0}}}"

#define ERROR_BODY(message) "{\"error\":{\"message\":\"" message "\",\"type\":\"invalid_request_error\"}}"

#define MESSAGE_START \
  "{\"model\":\"" MESSAGES_MODEL "\",\"id\":\"msg_bench\",\"type\":\"message\",\"role\":\"assistant\"," \
  "\"content\":[{\"type\":\"text\",\"text\":\""
#define MESSAGE_END \
  "\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":200," \
  "\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":50,\"service_tier\":\"standard\"}}"

struct reply wholes[APIS], refused_model, refused_transfer;
struct stream streams[APIS];
static char *stamp;

static void append(struct reply *reply, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof reply->bytes - reply->length;
  reply->length += vsnprintf(reply->bytes + reply->length, room, format, arguments);
  va_end(arguments);
}

static void append_json(struct reply *reply, const char *status, const char *body) {
  append(reply, "HTTP/1.1 %s\r\ncontent-type: application/json\r\n", status);
  append(reply, "content-length: %zu\r\n\r\n%s", strlen(body), body);
}

// One HTTP chunk, as an upstream sends one for each event.
static void append_chunk(struct reply *reply, const char *event) {
  append(reply, "%zx\r\n%s\r\n", strlen(event), event);
}

// `format` has one %s, for the text.
static void append_whole(struct reply *reply, const char *format) {
  char content[CONTENT_BYTES + 1] = "";
  memset(content, 'y', CONTENT_BYTES);

  char body[2048];
  snprintf(body, sizeof body, format, content);
  append_json(reply, "200 OK", body);
}

// One content event, filled up to so many bytes.
static void append_event(struct reply *reply, const char *start, const char *end, size_t bytes) {
  char padding[EVENT_BYTES + 1] = "";
  memset(padding, 'x', bytes - strlen(start) - strlen(end));

  char event[EVENT_BYTES + 1];
  snprintf(event, sizeof event, "%s%s%s", start, padding, end);
  append_chunk(reply, event);
}

static void append_stream_head(struct reply *reply) {
  append(reply, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n");
  append(reply, "cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
}

static void build_chat_stream(struct stream *stream) {
  append_stream_head(&stream->start);
  append_event(&stream->event, CONTENT_EVENT_START, CONTENT_EVENT_END, EVENT_BYTES);
  stamp = strstr(stream->event.bytes, ZERO_STAMP);
  append_chunk(&stream->end, FINISH_EVENT);
  append_chunk(&stream->end, USAGE_EVENT);
  append_chunk(&stream->end, DONE_EVENT);
  append(&stream->end, LAST_CHUNK);
}

static void build_messages_stream(struct stream *stream) {
  append_stream_head(&stream->start);
  append_chunk(&stream->start, MESSAGE_START_EVENT);
  append_chunk(&stream->start, BLOCK_START_EVENT);
  append_chunk(&stream->start, PING_EVENT);
  append_event(&stream->event, DELTA_EVENT_START, DELTA_EVENT_END, DELTA_BYTES);
  append_chunk(&stream->end, BLOCK_STOP_EVENT);
  append_chunk(&stream->end, MESSAGE_DELTA_EVENT);
  append_chunk(&stream->end, MESSAGE_STOP_EVENT);
  append(&stream->end, LAST_CHUNK);
}

// `format` has one %s, for all that the deltas say.
static void append_text_event(struct reply *reply, const char *format) {
  char text[DEFAULT_CHUNKS * sizeof RESPONSES_TOKEN] = "";
  for (int i = 0; i < DEFAULT_CHUNKS; i++) strcat(text, RESPONSES_TOKEN);
  char event[sizeof text + 2048];
  snprintf(event, sizeof event, format, text);
  append_chunk(reply, event);
}

static void build_responses_stream(struct stream *stream) {
  append_stream_head(&stream->start);
  append_chunk(&stream->start, RESPONSES_EVENT("response.created", RESPONSE("in_progress", "", "null")));
  append_chunk(&stream->start, RESPONSES_EVENT("response.in_progress", RESPONSE("in_progress", "", "null")));
  append_chunk(&stream->start,
               RESPONSES_EVENT("response.output_item.added", "\"output_index\":0,\"item\":" ITEM("in_progress", "")));
  append_chunk(&stream->start, RESPONSES_EVENT("response.content_part.added", IN_PART "\"part\":" PART("")));
  append_chunk(&stream->event, RESPONSES_DELTA_EVENT);
  append_text_event(&stream->end, RESPONSES_EVENT("response.output_text.done", IN_PART "\"text\":\"%s\",\"logprobs\":[]"));
  append_text_event(&stream->end, RESPONSES_EVENT("response.content_part.done", IN_PART "\"part\":" PART("%s")));
  append_text_event(&stream->end, RESPONSES_EVENT("response.output_item.done",
                                                  "\"output_index\":0,\"item\":" ITEM("completed", PART("%s"))));
  append_text_event(&stream->end, RESPONSES_EVENT("response.completed",
                                                  RESPONSE("completed", ITEM("completed", PART("%s")), RESPONSES_USAGE)));
  append(&stream->end, LAST_CHUNK);
}

void build_replies(void) {
  append_whole(&wholes[CHAT], COMPLETION_START "%s" COMPLETION_END);
  append_whole(&wholes[MESSAGES], MESSAGE_START "%s" MESSAGE_END);
  append_whole(&wholes[RESPONSES], RESPONSE_OBJECT("completed", ITEM("completed", PART("%s")), RESPONSES_USAGE));
  build_chat_stream(&streams[CHAT]);
  build_messages_stream(&streams[MESSAGES]);
  build_responses_stream(&streams[RESPONSES]);
  append_json(&refused_model, "400 Bad Request",
              ERROR_BODY("the upstream knows only the models " CHAT_MODEL ", at /v1/messages " MESSAGES_MODEL
                         " and at /v1/responses " RESPONSES_MODEL));
  append_json(&refused_transfer, "411 Length Required", ERROR_BODY("the request has no content-length"));
}

void stamp_event(uint64_t now) {
  for (int digit = STAMP_DIGITS - 1; digit >= 0; digit--) {
    stamp[digit] = (char)('0' + now % 10);
    now /= 10;
  }
}
