// An HTTP/1.1 load generator: one thread, epoll, loopback only. Sends one request again and again, prints one line of JSON:
//   loadgen --port P --request FILE --connections C --seconds S [--rate R]
// Without a rate a connection sends its next request when it has its reply (closed loop). With one, request k is due at
// k/R seconds and its latency counts from then, so that a gateway that falls behind cannot hide it (open loop).
// The first request that fails ends the run: a refusal costs less than an answer and would flatter who gave it.
#define _GNU_SOURCE
#include "clock.h"
#include "options.h"
#include "process.h"
#include "response.h"
#include "samples.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES 262144
#define BATCH 512
#define GRACE_NS (5 * NS_PER_SECOND) // for the replies that are still on their way at the end
#define STAMP_START "\"fp_0"        // the upstream's time in an event; see replies.h
#define STAMP_DIGITS 20

struct client {
  int fd;
  bool busy;
  bool watching_output;
  bool first_byte_seen;
  uint64_t due_ns; // when its request was to be sent
  size_t sent;
  struct response response;
};

static struct options options;
static int epoll;
static struct client **idle;
static int idle_count;
static uint64_t start_ns;
static uint64_t last_reply_ns;
static uint64_t issued;
static struct samples latencies, first_bytes, event_delays;

static void open_connection(struct client *client) {
  struct sockaddr_in address = loopback(options.port);
  client->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(client->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect: %s", strerror(errno));
  disable_nagle(client->fd);
  client->watching_output = false;
  watch(epoll, EPOLL_CTL_ADD, client->fd, client, false);
}

static void reopen_connection(struct client *client) {
  close(client->fd);
  open_connection(client);
}

static void push(struct client *client) {
  size_t rest = options.request_length - client->sent;
  ssize_t taken = send(client->fd, options.request + client->sent, rest, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (taken > 0) client->sent += (size_t)taken;
  bool output = client->sent < options.request_length;
  if (output == client->watching_output) return;
  client->watching_output = output;
  watch(epoll, EPOLL_CTL_MOD, client->fd, client, output);
}

static uint64_t next_due_ns(uint64_t now) {
  if (options.rate <= 0) return now;
  return start_ns + (uint64_t)((double)issued * NS_PER_SECOND / options.rate);
}

static void issue(struct client *client, uint64_t due) {
  issued++;
  client->busy = true;
  client->first_byte_seen = false;
  client->due_ns = due;
  client->sent = 0;
  response_begin(&client->response);
  push(client);
}

static void complete(struct client *client) {
  if (client->response.status != 200) fail("a request was answered with status %d", client->response.status);
  if (!response_finished(&client->response)) fail("a stream ended without its end marker");
  last_reply_ns = now_ns();
  samples_add(&latencies, last_reply_ns - client->due_ns);
  client->busy = false;
  idle[idle_count++] = client;
  if (client->response.last_on_connection) reopen_connection(client);
}

// Notes for each event in `bytes` how long it took from the upstream's send() to here. A stamp that a chunk's border cuts in
// two is left out: that changes the number of samples, not what they say.
static void note_delays(const char *bytes, size_t length, uint64_t now) {
  const char *end = bytes + length;
  const char *found = bytes;
  while ((found = memmem(found, end - found, STAMP_START, strlen(STAMP_START)))) {
    found += strlen(STAMP_START) - 1; // the 0 is the stamp's first digit
    if (end - found < STAMP_DIGITS) return;
    uint64_t sent = 0;
    for (int digit = 0; digit < STAMP_DIGITS; digit++) sent = sent * 10 + (uint64_t)(found[digit] - '0');
    samples_add(&event_delays, now - sent);
    found += STAMP_DIGITS;
  }
}

static void on_body(void *context, const char *bytes, size_t length) {
  struct client *client = context;
  if (client->response.status != 200) {
    fail("a request was answered with status %d: %.*s", client->response.status, (int)length, bytes);
  }
  uint64_t now = now_ns();
  if (!client->first_byte_seen) {
    client->first_byte_seen = true;
    samples_add(&first_bytes, now - client->due_ns);
  }
  if (client->response.event_stream) note_delays(bytes, length, now);
}

static void receive(struct client *client) {
  static char bytes[READ_BYTES];
  ssize_t received = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (received < 0 && errno == EAGAIN) return;
  if (!client->busy && received > 0) fail("bytes came behind the end of a reply");
  if (!client->busy) {
    reopen_connection(client); // the server closed an idle connection
    return;
  }
  if (received <= 0) fail("a connection was closed in the middle of a reply");
  switch (response_read(&client->response, bytes, (size_t)received, on_body, client)) {
  case RESPONSE_COMPLETE:
    complete(client);
    break;
  case RESPONSE_BROKEN:
    fail("a reply is not HTTP/1.1 as this program knows it");
  case RESPONSE_PARTIAL:
    break;
  }
}

static void issue_due(uint64_t now) {
  while (idle_count > 0 && next_due_ns(now) <= now) {
    uint64_t due = next_due_ns(now);
    issue(idle[--idle_count], due);
  }
}

static void wait_and_receive(uint64_t until_ns) {
  uint64_t now = now_ns();
  struct timespec timeout = to_timespec(until_ns > now ? until_ns - now : 0);
  struct epoll_event ready[BATCH];
  int count = epoll_pwait2(epoll, ready, BATCH, &timeout, NULL);
  if (count < 0 && errno != EINTR) fail("epoll_pwait2: %s", strerror(errno));
  for (int i = 0; i < count; i++) {
    struct client *client = ready[i].data.ptr;
    if (ready[i].events & EPOLLOUT) push(client);
    if (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(client);
  }
}

static void run(void) {
  start_ns = now_ns();
  uint64_t stop = start_ns + (uint64_t)(options.seconds * NS_PER_SECOND);
  for (;;) {
    uint64_t now = now_ns();
    if (now >= stop) break;
    issue_due(now);
    uint64_t due = idle_count > 0 ? next_due_ns(now) : stop;
    wait_and_receive(due < stop ? due : stop);
  }
  while (idle_count < options.connections) {
    if (now_ns() >= stop + GRACE_NS) fail("%d replies are missing", options.connections - idle_count);
    wait_and_receive(stop + GRACE_NS);
  }
}

static void print_result(void) {
  double seconds = (double)(last_reply_ns - start_ns) / NS_PER_SECOND;
  printf("{\"completed\":%zu,\"seconds\":%.4f,\"latency\":", latencies.count, seconds);
  samples_print(&latencies);
  printf(",\"firstByte\":");
  samples_print(&first_bytes);
  printf(",\"eventDelay\":");
  samples_print(&event_delays);
  printf("}\n");
}

int main(int count, char **arguments) {
  prepare_process();
  options = options_read(count, arguments);
  epoll = epoll_create1(0);
  idle = calloc((size_t)options.connections, sizeof *idle);
  struct client *clients = calloc((size_t)options.connections, sizeof *clients);
  if (!idle || !clients) fail("out of memory");
  for (int i = 0; i < options.connections; i++) {
    open_connection(&clients[i]);
    idle[idle_count++] = &clients[i];
  }
  run();
  print_result();
  return 0;
}
