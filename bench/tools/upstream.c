// A mock of a model's provider, quick enough not to be what is measured: one thread, epoll, loopback only.
//   upstream            listens on a free port and prints `listening on http://127.0.0.1:PORT`
// A POST to /v1/messages is one of Anthropic's, one to /v1/responses of OpenAI's, any other a chat completion of OpenAI's. A request that streams gets one HTTP
// chunk and one send() per content event, then usage and the end marker; request.h tells how a request sets its own pace.
#define _GNU_SOURCE
#include "buffer.h"
#include "clock.h"
#include "process.h"
#include "replies.h"
#include "request.h"
#include "timers.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES 16384
#define BATCH 512
#define BACKLOG 4096

struct connection {
  struct timer timer; // first: timers_fire() hands it back
  int fd;
  bool answering; // until the reply is complete, no other request is read
  bool broken;
  bool watching_output;
  int events_sent;
  struct request request; // while answering
  struct buffer input;
  struct buffer output; // what the socket did not take yet
};

static int epoll;

static void drop(struct connection *connection) {
  timer_cancel(&connection->timer);
  close(connection->fd);
  free(connection->input.bytes);
  free(connection->output.bytes);
  free(connection);
}

// Sends at once what the socket takes, keeps the rest.
static void put(struct connection *connection, const struct reply *reply) {
  size_t sent = 0;
  if (connection->output.length == 0) {
    ssize_t taken = send(connection->fd, reply->bytes, reply->length, MSG_NOSIGNAL);
    if (taken >= 0) sent = (size_t)taken;
    else if (errno != EAGAIN) connection->broken = true;
  }
  if (sent < reply->length) buffer_append(&connection->output, reply->bytes + sent, reply->length - sent);
}

static void flush(struct connection *connection) {
  ssize_t taken = send(connection->fd, connection->output.bytes, connection->output.length, MSG_NOSIGNAL);
  if (taken >= 0) buffer_consume(&connection->output, (size_t)taken);
  else if (errno != EAGAIN) connection->broken = true;
}

static void end_reply(struct connection *connection) {
  buffer_consume(&connection->input, connection->request.size);
  connection->answering = false;
}

// Sends events: all of them, or one and then the next when the timer fires.
static void send_events(struct connection *connection) {
  const struct stream *stream = &streams[connection->request.api];
  while (connection->events_sent < connection->request.chunks) {
    stamp_event(now_ns());
    put(connection, &stream->event);
    if (connection->broken) return;
    connection->events_sent++;
    bool more = connection->events_sent < connection->request.chunks;
    if (more && connection->request.delay_ns > 0) {
      timer_start(&connection->timer, connection->request.delay_ns);
      return;
    }
  }
  put(connection, &stream->end);
  end_reply(connection);
}

static void begin_reply(struct connection *connection) {
  if (!connection->request.model_known) {
    put(connection, &refused_model);
    end_reply(connection);
  } else if (connection->request.stream) {
    put(connection, &streams[connection->request.api].start);
    send_events(connection);
  } else {
    put(connection, &wholes[connection->request.api]);
    end_reply(connection);
  }
}

// Answers the requests that have come in whole.
static void answer(struct connection *connection) {
  while (!connection->answering && !connection->broken && connection->input.length > 0) {
    enum request_state state =
        request_read(&connection->request, connection->input.bytes, connection->input.length);
    if (state == REQUEST_PARTIAL) return;
    if (state == REQUEST_WITHOUT_LENGTH) {
      put(connection, &refused_transfer);
      connection->broken = true;
      return;
    }
    connection->answering = true;
    connection->events_sent = 0;
    if (connection->request.latency_ns > 0) {
      connection->events_sent = -1; // the head is still to come
      timer_start(&connection->timer, connection->request.latency_ns);
    } else {
      begin_reply(connection);
    }
  }
}

// After whatever happened on a connection: ends it, or waits for what it needs next.
static void settle(struct connection *connection) {
  if (connection->broken) {
    drop(connection);
    return;
  }
  bool output = connection->output.length > 0;
  if (output == connection->watching_output) return;
  connection->watching_output = output;
  watch(epoll, EPOLL_CTL_MOD, connection->fd, connection, output);
}

static void on_timer(struct timer *timer) {
  struct connection *connection = (struct connection *)timer;
  if (connection->events_sent < 0) {
    connection->events_sent = 0;
    begin_reply(connection);
  } else {
    send_events(connection);
  }
  answer(connection);
  settle(connection);
}

static void receive(struct connection *connection) {
  struct buffer *input = &connection->input;
  buffer_reserve(input, READ_BYTES);
  ssize_t received = recv(connection->fd, input->bytes + input->length, input->capacity - input->length, 0);
  if (received > 0) {
    input->length += (size_t)received;
    answer(connection);
  } else if (received == 0 || errno != EAGAIN) {
    connection->broken = true;
  }
}

static void on_ready(struct connection *connection, uint32_t events) {
  if (events & (EPOLLHUP | EPOLLERR)) connection->broken = true;
  if (!connection->broken && (events & EPOLLOUT)) flush(connection);
  if (!connection->broken && (events & EPOLLIN)) receive(connection);
  settle(connection);
}

static void accept_all(int listener) {
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    disable_nagle(fd);
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) fail("out of memory");
    connection->fd = fd;
    watch(epoll, EPOLL_CTL_ADD, fd, connection, false);
  }
}

static int listen_on_free_port(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) < 0) fail("bind: %s", strerror(errno));
  if (listen(listener, BACKLOG) < 0) fail("listen: %s", strerror(errno));
  getsockname(listener, (struct sockaddr *)&address, &length);
  printf("listening on http://127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

int main(void) {
  prepare_process();
  build_replies();
  epoll = epoll_create1(0);
  int listener = listen_on_free_port();
  watch(epoll, EPOLL_CTL_ADD, listener, NULL, false);

  struct epoll_event ready[BATCH];
  struct timespec tick = to_timespec(TICK_NS);
  for (;;) {
    int count = epoll_pwait2(epoll, ready, BATCH, timers_running() ? &tick : NULL, NULL);
    if (count < 0 && errno != EINTR) fail("epoll_pwait2: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
      if (ready[i].data.ptr) on_ready(ready[i].data.ptr, ready[i].events);
      else accept_all(listener);
    }
    timers_fire(on_timer);
  }
}
