// The mock upstream's replies, byte for byte as the services write them whose part it plays.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define CHAT_MODEL "gpt-4o-mini"
#define MESSAGES_MODEL "claude-sonnet-4-5"
#define RESPONSES_MODEL "gpt-5.5-pro"

// What the mock upstream speaks: OpenAI's chat completions, Anthropic's Messages, OpenAI's Responses.
enum api { CHAT, MESSAGES, RESPONSES, APIS };

// The content events of a stream, unless its request sets another number. Those of Responses are as many: its last events repeat them all.
#define DEFAULT_CHUNKS 100

struct reply {
  char bytes[16384];
  size_t length;
};

struct stream {
  struct reply start; // status line and headers, and the events before the content
  struct reply event; // one content event in one HTTP chunk
  struct reply end;   // the events behind the content, and the last chunk
};

extern struct reply wholes[APIS];     // not streamed; by enum api
extern struct stream streams[APIS];   // by enum api
extern struct reply refused_model;    // 400: the request names a model that is not the upstream's
extern struct reply refused_transfer; // 411: the request has no content-length

// Fills the replies in.
void build_replies(void);

// Writes the time into the content event of chat completions: the load generator finds it there as "fp_<20 digits>".
void stamp_event(uint64_t now);
