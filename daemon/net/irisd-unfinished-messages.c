/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Messages of which ZeroMQ has received some frames and not the last one: bounds on their memory.
 *
 * ZeroMQ gives the application whole messages only. Until the last frame has come, the others are
 * in memory that no option bounds: MAXMSGSIZE is the bound of one frame, and the high-water marks
 * count whole messages. So a connection could fill the memory with one message that does not end.
 *
 * libzmq receives with recv(), which the dynamic linker finds in the program before it finds it in
 * the C library, like accept4() (irisd-accept.c). So this file defines recv(). It does what the C
 * library's does, and for connections accepted at an endpoint of irisd it also parses the framing
 * of ZMTP 3: 64 bytes of greeting, then frames, each with a byte of flags and its length. (libzmq
 * closes connections of older versions by itself, because the sockets have a ZAP domain.) When a
 * message exceeds a bound, recv() reports that the other end has closed
 * the connection. libzmq then closes the connection and frees what it has received.
 *
 * There are two bounds. A message may have twice max-header and max-body, so that one that is
 * somewhat too large gets an answer. All connections together have unfinished-bytes; beyond that,
 * the connection whose message began first ends: over loopback a message takes long only if its
 * sender has stopped. The first message of a connection has no bound of its own, though only HELLO
 * is accepted: after a reconnect ZeroMQ sends queued messages, and the answer tells the client to
 * say HELLO.
 *
 * With CURVE the flag for more frames is inside the encrypted part, so the framing does not tell
 * where a message ends. There a connection is charged what has come since the gateway took a whole
 * message of it: the gateway reports the size of each message that it takes, by the descriptor that
 * ZeroMQ names for it. Messages of one connection come in order, so what is charged is queued, or
 * the beginning of a message. The bound is what a client may have in flight and the bound of a
 * message, as a client may send all of that before the gateway takes the first. Encrypted commands
 * (ZMTP's PING) look like frames and are never taken: when the gateway has emptied its socket and
 * the last message that it took was of this connection, the connection is charged nothing. The
 * beginning of a message may be forgiven so, but once only, because no further message of that
 * connection is taken before this one has ended: the bound at most doubles. Of all connections the
 * one ends first whose last message was taken longest ago.
 *
 * Before a stranger has shown a key it sends two commands of some hundred bytes. More than
 * IRISD_UNFINISHED_HANDSHAKE in one of them ends the connection.
 *
 * The state of a connection is dropped when recv() reports its end, or when its descriptor is
 * accepted again. In between libzmq may have closed it by itself, so before anything is ended the
 * kernel's number of the socket (SO_COOKIE) is compared, as in irisd-pending-connections.c.
 */
#include "daemon/net/irisd-unfinished-messages.h"

#include "daemon/base/irisd-log.h"
#include "daemon/net/irisd-pending-connections.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GREETING_SIZE 64
#define MECHANISM_AT  12
#define MECHANISM     "CURVE"
#define FLAG_MORE     1
#define FLAG_LONG     2
#define FLAG_COMMAND  4

/* Frames that may have a buffer each, beside the bytes that the limits allow. */
#define BUFFERED_FRAMES (IRIS_WIRE_N_FRAMES + 3)

typedef struct
{
  IrisdConnection connection;
  guint64 charge;   /* of the message that has begun, and of the command */
  guint64 began;    /* the message's number, in the order in which messages began */
  guint64 frame;    /* the current frame's part of the charge */
  guint64 left;     /* bytes of the current frame, or of the greeting, still to come */
  guint64 n_frames; /* that have begun after the greeting */
  gboolean curve;   /* its greeting says so */
  gboolean greets;  /* the greeting has not ended */
  guint8 flags;     /* of the current frame */
  guint8 head;      /* bytes of its length still to come */
  gboolean ended;   /* was told to end */
} Stream;

/* All but the first two end the connection; VERDICT_ROOM ends others. */
typedef enum
{
  VERDICT_FINE,
  VERDICT_ROOM,
  VERDICT_MESSAGE,
  VERDICT_HANDSHAKE,
  VERDICT_TOTAL,
} Verdict;

/* One for the process, as recv() is. */
static struct
{
  pthread_mutex_t lock; /* a POSIX mutex, because ThreadSanitizer knows those */
  _Atomic gboolean active;
  GPtrArray *endpoints;
  GPtrArray *streams; /* by descriptor */
  guint64 total;
  guint64 n_begun;
  guint64 most;
  guint64 most_curve; /* of a connection with CURVE */
  guint64 most_total;
} unfinished = { .lock = PTHREAD_MUTEX_INITIALIZER };

static Stream *
find (int fd)
{
  return fd >= 0 && (guint) fd < unfinished.streams->len
             ? g_ptr_array_index (unfinished.streams, fd)
             : NULL;
}

static void
drop (int fd)
{
  Stream *stream = find (fd);
  if (stream == NULL)
    return;
  unfinished.total -= stream->charge;
  g_ptr_array_index (unfinished.streams, fd) = NULL;
  g_free (stream);
}

static gboolean
is_still_there (const Stream *stream)
{
  return irisd_connection_get_cookie (stream->connection.fd) == stream->connection.cookie;
}

static void
enter (int fd)
{
  drop (fd);
  guint64 cookie = irisd_connection_get_cookie (fd);
  gboolean ours = FALSE;
  for (guint i = 0; i < unfinished.endpoints->len && !ours; i++)
    ours = irisd_connection_is_at (fd, g_ptr_array_index (unfinished.endpoints, i));
  if (!ours || cookie == 0)
    return;
  Stream *stream = g_new (Stream, 1);
  /* The greeting counts as a command. */
  *stream = (Stream){
    .connection = { fd, cookie }, .flags = FLAG_COMMAND, .left = GREETING_SIZE, .greets = TRUE
  };
  if ((guint) fd >= unfinished.streams->len)
    g_ptr_array_set_size (unfinished.streams, fd + 1);
  g_ptr_array_index (unfinished.streams, fd) = stream;
}

static Stream *
find_oldest (void)
{
  Stream *oldest = NULL;
  for (guint fd = 0; fd < unfinished.streams->len; fd++)
    {
      Stream *stream = find ((int) fd);
      if (stream == NULL || stream->charge == 0 || stream->ended)
        continue;
      if (!is_still_there (stream))
        drop ((int) fd);
      else if (oldest == NULL || stream->began < oldest->began)
        oldest = stream;
    }
  return oldest;
}

/* Ends the oldest messages until the others fit. Memory that libzmq frees soon counts as free. */
static Verdict
make_room (const Stream *self)
{
  Verdict verdict = VERDICT_FINE;
  while (unfinished.total > unfinished.most_total)
    {
      verdict = VERDICT_ROOM;
      Stream *oldest = find_oldest ();
      if (oldest == NULL || oldest == self)
        return VERDICT_TOTAL;
      oldest->ended = TRUE;
      unfinished.total -= oldest->charge;
      oldest->charge = 0;
      shutdown (oldest->connection.fd, SHUT_RDWR);
    }
  return verdict;
}

static void
charge (Stream *self, guint64 bytes)
{
  if (self->charge == 0)
    self->began = ++unfinished.n_begun;
  self->charge += bytes;
  self->frame += bytes;
  unfinished.total += bytes;
}

static void
release (Stream *self, guint64 bytes)
{
  self->charge -= bytes;
  unfinished.total -= bytes;
}

/* Frames of an encrypted message stay charged until the gateway has taken it. */
static void
end_frame (Stream *self)
{
  self->greets = FALSE;
  if ((self->flags & FLAG_COMMAND) != 0)
    release (self, self->frame);
  else if (self->curve)
    ;
  else if ((self->flags & FLAG_MORE) == 0)
    release (self, self->charge);
  self->frame = 0;
}

/* Its length is known now. ZMTP has no command of several frames; libzmq would queue one. */
static Verdict
begin_frame (Stream *self, gboolean *buffered)
{
  const guint8 both = FLAG_COMMAND | FLAG_MORE;
  guint64 most = self->curve ? unfinished.most_curve : unfinished.most;
  charge (self, IRISD_UNFINISHED_FRAME);
  if (self->curve && (self->n_frames++ < 2 || (self->flags & FLAG_COMMAND) != 0)
      && self->left > IRISD_UNFINISHED_HANDSHAKE)
    return VERDICT_HANDSHAKE;
  /* ZeroMQ decrypts a frame into memory of its own size. */
  if (!self->curve && !*buffered && self->left > IRISD_UNFINISHED_INLINE
      && self->left <= IRISD_UNFINISHED_BUFFER)
    {
      charge (self, IRISD_UNFINISHED_BUFFER);
      *buffered = TRUE;
    }
  if (self->charge <= most && self->left <= most - self->charge && (self->flags & both) != both)
    return VERDICT_FINE;
  return VERDICT_MESSAGE;
}

static Verdict
read_head (Stream *self, guint8 byte, gboolean *buffered)
{
  if (self->head == 0)
    {
      self->flags = byte;
      self->head = (byte & FLAG_LONG) != 0 ? 8 : 1;
      return VERDICT_FINE;
    }
  self->left = self->left << 8 | byte;
  if (--self->head > 0)
    return VERDICT_FINE;
  Verdict verdict = begin_frame (self, buffered);
  if (verdict == VERDICT_FINE && self->left == 0)
    end_frame (self);
  return verdict;
}

/* The name of the mechanism has 20 bytes, with zeroes at its end. */
static void
read_greeting (Stream *self, const guint8 *bytes, guint64 size)
{
  const guint64 from = GREETING_SIZE - self->left;
  if (from == 0)
    self->curve = TRUE;
  for (guint64 i = 0; i < size; i++)
    if (from + i >= MECHANISM_AT && from + i < MECHANISM_AT + sizeof MECHANISM)
      self->curve &= bytes[i] == (guint8) MECHANISM[from + i - MECHANISM_AT];
}

static Verdict
read_along (Stream *self, const guint8 *bytes, gsize size)
{
  gboolean buffered = FALSE;
  Verdict verdict = VERDICT_FINE;
  for (gsize at = 0; at < size && verdict == VERDICT_FINE;)
    if (self->head > 0 || self->left == 0)
      verdict = read_head (self, bytes[at++], &buffered);
    else
      {
        guint64 part = MIN (self->left, size - at);
        if (self->greets)
          read_greeting (self, bytes + at, part);
        charge (self, part);
        at += part;
        self->left -= part;
        if (self->left == 0)
          end_frame (self);
      }
  return verdict == VERDICT_FINE ? make_room (self) : verdict;
}

static void
tell (Verdict verdict)
{
  static IrisdLogSite message, handshake, total;
  if (verdict == VERDICT_HANDSHAKE)
    irisd_log_limited (&handshake, IRISD_LOG_WARNING,
                       "closed a connection: a command of its CURVE handshake has more than %d "
                       "bytes; this is no client of irisd",
                       IRISD_UNFINISHED_HANDSHAKE);
  else if (verdict == VERDICT_MESSAGE)
    irisd_log_limited (&message, IRISD_LOG_WARNING,
                       "closed a connection: its message has more frames or bytes than twice "
                       "max-header and max-body; raise them under [limits] if it is meant");
  else
    irisd_log_limited (&total, IRISD_LOG_WARNING,
                       "closed the connection with the oldest unfinished message: "
                       "unfinished messages have too many bytes together; raise unfinished-bytes "
                       "under [limits] if they are meant");
}

/* For bytes that have come; n == 0 is the end. */
static Verdict
judge (int fd, Stream *stream, const guint8 *bytes, gsize size)
{
  Verdict verdict = VERDICT_FINE;
  if (size > 0)
    verdict = stream->ended ? VERDICT_TOTAL : read_along (stream, bytes, size);
  if (size > 0 && verdict <= VERDICT_ROOM)
    return verdict;
  /* The descriptor may be another socket's by now. */
  if (verdict > VERDICT_ROOM && !is_still_there (stream))
    verdict = VERDICT_FINE;
  drop (fd);
  return verdict;
}

static gboolean
note_received (int fd, const guint8 *bytes, gsize size)
{
  pthread_mutex_lock (&unfinished.lock);
  Stream *stream = find (fd);
  Verdict verdict = stream != NULL ? judge (fd, stream, bytes, size) : VERDICT_FINE;
  pthread_mutex_unlock (&unfinished.lock);
  if (verdict != VERDICT_FINE)
    tell (verdict);
  return verdict <= VERDICT_ROOM;
}

/* Takes the place of the C library's function in this process. Returns what that returns, or 0 if
 * the connection has to end. */
__attribute__ ((visibility ("default"))) ssize_t
recv (int fd, void *buffer, size_t size, int flags)
{
  /* Not recvfrom(): ThreadSanitizer would take its writes for ours, and cannot see how ZeroMQ
   * passes them to another thread. */
  ssize_t n = syscall (SYS_recvfrom, fd, buffer, size, flags, NULL, NULL);
  /* Acquires what irisd_unfinished_listen() has made. */
  if (!atomic_load_explicit (&unfinished.active, memory_order_acquire) || (flags & MSG_PEEK) != 0
      || size == 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
    return n;
  int saved = errno;
  gboolean goes_on = note_received (fd, buffer, n > 0 ? (gsize) n : 0);
  errno = saved;
  return goes_on ? n : 0;
}

/* Connections accepted elsewhere than at irisd's endpoints are not watched. */
void
irisd_unfinished_enter (int fd)
{
  /* Acquires what irisd_unfinished_listen() has made. */
  if (!atomic_load_explicit (&unfinished.active, memory_order_acquire))
    return;
  pthread_mutex_lock (&unfinished.lock);
  enter (fd);
  pthread_mutex_unlock (&unfinished.lock);
}

void
irisd_unfinished_set_limits (const IrisdLimits *limits)
{
  const guint64 frames = (guint64) BUFFERED_FRAMES
                         * (IRISD_UNFINISHED_FRAME + IRISD_UNFINISHED_BUFFER);
  pthread_mutex_lock (&unfinished.lock);
  unfinished.most = 2 * (limits->max_header + limits->max_body) + frames;
  unfinished.most_curve = 2 * unfinished.most + limits->in_flight_bytes;
  unfinished.most_total = MAX (limits->unfinished_bytes, unfinished.most);
  pthread_mutex_unlock (&unfinished.lock);
}

/* Connections are accepted at @endpoint from now on. Call this before ZeroMQ binds to it. */
void
irisd_unfinished_listen (const char *endpoint)
{
  pthread_mutex_lock (&unfinished.lock);
  if (unfinished.endpoints == NULL)
    {
      unfinished.endpoints = g_ptr_array_new_with_free_func (g_free);
      unfinished.streams = g_ptr_array_new ();
    }
  g_ptr_array_add (unfinished.endpoints, g_strdup (endpoint));
  pthread_mutex_unlock (&unfinished.lock);
  /* Releases both arrays to recv() and accept4(). */
  atomic_store_explicit (&unfinished.active, TRUE, memory_order_release);
}

/* A gateway has taken a message of @n_frames frames and @bytes bytes of the connection @fd. */
void
irisd_unfinished_take (int fd, guint n_frames, guint64 bytes)
{
  pthread_mutex_lock (&unfinished.lock);
  Stream *stream = find (fd);
  if (stream != NULL && stream->curve)
    {
      guint64 charged = bytes
                        + (guint64) n_frames * (IRISD_UNFINISHED_FRAME + IRISD_UNFINISHED_BOX);
      release (stream, MIN (charged, stream->charge));
      stream->began = ++unfinished.n_begun;
    }
  pthread_mutex_unlock (&unfinished.lock);
}

/* A gateway has found its socket empty after the last message that it took, which was of the
 * connection @fd. */
void
irisd_unfinished_settle (int fd)
{
  pthread_mutex_lock (&unfinished.lock);
  Stream *stream = find (fd);
  if (stream != NULL && stream->curve)
    release (stream, stream->charge);
  pthread_mutex_unlock (&unfinished.lock);
}

/* Returns the bytes that unfinished messages are charged at present. */
guint64
irisd_unfinished_get_bytes (void)
{
  pthread_mutex_lock (&unfinished.lock);
  guint64 total = unfinished.total;
  pthread_mutex_unlock (&unfinished.lock);
  return total;
}
