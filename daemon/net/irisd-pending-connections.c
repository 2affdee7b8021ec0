/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Connections that have not said HELLO yet, or have said BYE since: pending connections.
 *
 * ZeroMQ closes a connection that does not finish its own handshake, and then keeps it for as long
 * as the other end likes; irisd's limits count the connections that said HELLO. Without this file
 * only irisd's descriptors would bound the silent ones, at the cost of all other connections.
 *
 * ZeroMQ cannot end one connection of a socket. But it reports the descriptor of each accepted
 * connection (to the ZAP handler, as an event of the socket) and of each received message, and
 * after shutdown(2) of the descriptor ZeroMQ acts as if the other end had closed the connection.
 * The kernel may reuse a descriptor before irisd learns that its connection has ended; the kernel's
 * number of the socket (SO_COOKIE), which is never reused, tells the two apart. On Linux before
 * 4.12 irisd closes no pending connection. If the connection is replaced by another between the
 * check and shutdown(2), the other end connects again.
 *
 * Events and messages come by different ways: HELLO may come before the event of its connection.
 * The HELLO is remembered until the event comes.
 *
 * After its time a connection gets a second chance, in which irisd reads what has already come:
 * irisd may have been stopped while the clock went on.
 */
#include "daemon/net/irisd-pending-connections.h"

#include "daemon/base/irisd-log.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The second chance takes this part of hello-ms, and at most that long. */
#define CHANCE_PART    4
#define MOST_CHANCE_US (1 * G_USEC_PER_SEC)

typedef struct
{
  IrisdConnection connection;
  gint64 due_us;
  gboolean said_hello; /* HELLO came before the event */
  GQueue *queue;
  GList link;
} Pending;

struct _IrisdPendingConnections
{
  pthread_mutex_t lock; /* a POSIX mutex, because ThreadSanitizer knows those */
  GHashTable *by_fd;
  GQueue waiting; /* by the end of hello-ms */
  GQueue doomed;  /* by the end of the second chance */
  gint64 time_us;
  gint64 chance_us;
  guint most;
  int wake_fd;
};

static void
forget (gpointer data)
{
  Pending *pending = data;
  g_queue_unlink (pending->queue, &pending->link);
  g_free (pending);
}

static void
take_limits (IrisdPendingConnections *self, const IrisdLimits *limits)
{
  self->time_us = (gint64) limits->hello_ms * 1000;
  self->chance_us = MIN (self->time_us / CHANCE_PART, MOST_CHANCE_US);
  self->most = (guint) limits->max_pending_connections;
}

IrisdPendingConnections *
irisd_pending_connections_new (const IrisdLimits *limits)
{
  IrisdPendingConnections *self = g_new0 (IrisdPendingConnections, 1);
  pthread_mutex_init (&self->lock, NULL);
  g_queue_init (&self->waiting);
  g_queue_init (&self->doomed);
  self->by_fd = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, forget);
  take_limits (self, limits);
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  return self;
}

/* The time of connections that are pending already does not change. */
void
irisd_pending_connections_set_limits (IrisdPendingConnections *self, const IrisdLimits *limits)
{
  pthread_mutex_lock (&self->lock);
  take_limits (self, limits);
  pthread_mutex_unlock (&self->lock);
}

void
irisd_pending_connections_free (IrisdPendingConnections *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->by_fd);
  if (self->wake_fd >= 0)
    close (self->wake_fd);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Returns the kernel's number of the socket of descriptor @fd; 0 if there is none. */
guint64
irisd_connection_get_cookie (int fd)
{
  guint64 cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt (fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

/* Returns whether the other end of a connection has closed it, or ZeroMQ has. */
gboolean
irisd_connection_has_ended (const IrisdConnection *self)
{
  struct pollfd end = { .fd = self->fd, .events = POLLRDHUP };
  return self->cookie != 0
         && (irisd_connection_get_cookie (self->fd) != self->cookie || poll (&end, 1, 0) > 0);
}

/* ZeroMQ acts as if the other end had closed the connection. */
void
irisd_connection_end (const IrisdConnection *self)
{
  if (self->cookie != 0 && irisd_connection_get_cookie (self->fd) == self->cookie)
    shutdown (self->fd, SHUT_RDWR);
}

static Pending *
find (IrisdPendingConnections *self, int fd)
{
  return g_hash_table_lookup (self->by_fd, GINT_TO_POINTER (fd));
}

static void
add (IrisdPendingConnections *self,
     const IrisdConnection *connection,
     gboolean said_hello,
     gint64 due_us)
{
  Pending *pending = g_new0 (Pending, 1);
  g_hash_table_remove (self->by_fd,
                       GINT_TO_POINTER (connection->fd)); /* the connection that had it before */
  *pending = (Pending){
    .connection = *connection, .due_us = due_us, .said_hello = said_hello, .queue = &self->waiting
  };
  pending->link.data = pending;
  g_hash_table_insert (self->by_fd, GINT_TO_POINTER (connection->fd), pending);
  g_queue_push_tail_link (&self->waiting, &pending->link);
}

/* For a connection that is still open. */
static gboolean
hang_up (const Pending *pending)
{
  return !pending->said_hello
         && irisd_connection_get_cookie (pending->connection.fd) == pending->connection.cookie
         && shutdown (pending->connection.fd, SHUT_RDWR) == 0;
}

/* Returns whether @fd is of a connection accepted at @endpoint. The event may be so late that the
 * descriptor belongs to something else, a plug-in for example. */
gboolean
irisd_connection_is_at (int fd, const char *endpoint)
{
  union
  {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_storage most;
  } name = { 0 };
  socklen_t size = sizeof name;
  const char *port = strrchr (endpoint, ':');
  if (getsockname (fd, &name.any, &size) != 0)
    return FALSE;
  if (name.any.sa_family == AF_UNIX)
    return g_str_has_prefix (endpoint, "ipc://")
           && strncmp (endpoint + strlen ("ipc://"), name.local.sun_path,
                       sizeof name.local.sun_path)
                  == 0;
  guint16 number = name.any.sa_family == AF_INET    ? name.in.sin_port
                   : name.any.sa_family == AF_INET6 ? name.in6.sin6_port
                                                    : 0;
  return number != 0 && port != NULL && g_ascii_strtoull (port + 1, NULL, 10) == g_ntohs (number);
}

static void
drop_oldest (IrisdPendingConnections *self)
{
  static IrisdLogSite site;
  while (g_hash_table_size (self->by_fd) > self->most)
    {
      GQueue *queue = self->doomed.length > 0 ? &self->doomed : &self->waiting;
      const Pending *oldest = g_queue_peek_head (queue);
      if (hang_up (oldest))
        irisd_log_limited (&site, IRISD_LOG_WARNING,
                           "closed the oldest connection: more than %u have not said "
                           "HELLO; raise max-pending-connections under [limits] if they are meant",
                           self->most);
      g_hash_table_remove (self->by_fd, GINT_TO_POINTER (oldest->connection.fd));
    }
}

/* Adds the connection @fd, accepted at @endpoint at the monotonic time @now_us. */
void
irisd_pending_connections_enter (IrisdPendingConnections *self,
                                 int fd,
                                 const char *endpoint,
                                 gint64 now_us)
{
  const IrisdConnection connection = { fd, irisd_connection_get_cookie (fd) };
  if (connection.cookie == 0 || !irisd_connection_is_at (fd, endpoint))
    return;
  pthread_mutex_lock (&self->lock);
  const Pending *known = find (self, fd);
  if (known == NULL || known->connection.cookie != connection.cookie)
    {
      add (self, &connection, FALSE, now_us + self->time_us);
      drop_oldest (self);
    }
  else if (known->said_hello)
    g_hash_table_remove (self->by_fd, GINT_TO_POINTER (fd));
  pthread_mutex_unlock (&self->lock);
}

/* Takes the connection @fd, by which HELLO has come, from the pending ones. Returns what identifies
 * it from now on. */
IrisdConnection
irisd_pending_connections_hello (IrisdPendingConnections *self, int fd)
{
  const IrisdConnection connection = { fd, irisd_connection_get_cookie (fd) };
  if (connection.cookie == 0)
    return connection;
  pthread_mutex_lock (&self->lock);
  const Pending *known = find (self, fd);
  if (known == NULL || known->connection.cookie != connection.cookie)
    add (self, &connection, TRUE, g_get_monotonic_time () + self->time_us);
  else if (!known->said_hello)
    g_hash_table_remove (self->by_fd, GINT_TO_POINTER (fd));
  pthread_mutex_unlock (&self->lock);
  return connection;
}

/* Makes @connection pending again: its HELLO no longer counts. */
void
irisd_pending_connections_part (IrisdPendingConnections *self,
                                const IrisdConnection *connection,
                                gint64 now_us)
{
  if (connection->cookie == 0 || irisd_connection_get_cookie (connection->fd) != connection->cookie)
    return;
  pthread_mutex_lock (&self->lock);
  add (self, connection, FALSE, now_us + self->time_us);
  drop_oldest (self);
  gboolean first = g_hash_table_size (self->by_fd) == 1;
  pthread_mutex_unlock (&self->lock);
  if (first)
    eventfd_write (self->wake_fd, 1);
}

static guint
end_doomed (IrisdPendingConnections *self, gint64 now_us)
{
  const Pending *pending;
  guint n = 0;
  while ((pending = g_queue_peek_head (&self->doomed)) != NULL && pending->due_us <= now_us)
    {
      n += hang_up (pending);
      g_hash_table_remove (self->by_fd, GINT_TO_POINTER (pending->connection.fd));
    }
  return n;
}

static void
doom (IrisdPendingConnections *self, gint64 now_us)
{
  for (GList *link; (link = self->waiting.head) != NULL;)
    {
      Pending *pending = link->data;
      if (pending->due_us > now_us)
        return;
      g_queue_unlink (&self->waiting, link);
      pending->queue = &self->doomed;
      pending->due_us = now_us + self->chance_us;
      g_queue_push_tail_link (&self->doomed, link);
    }
}

/* Closes the connections whose time is over. Returns when to sweep again, in monotonic time; 0 if
 * no connection is pending. */
gint64
irisd_pending_connections_sweep (IrisdPendingConnections *self, gint64 now_us)
{
  static IrisdLogSite site;
  pthread_mutex_lock (&self->lock);
  guint n = end_doomed (self, now_us);
  doom (self, now_us);
  gint64 time_us = self->time_us;
  const Pending *waiting = g_queue_peek_head (&self->waiting);
  const Pending *doomed = g_queue_peek_head (&self->doomed);
  gint64 next = waiting != NULL ? waiting->due_us : 0;
  if (doomed != NULL && (next == 0 || doomed->due_us < next))
    next = doomed->due_us;
  pthread_mutex_unlock (&self->lock);
  if (n > 0)
    irisd_log_limited (&site, IRISD_LOG_INFO,
                       "closed %u connections: they have not said HELLO for "
                       "%" G_GINT64_FORMAT " ms; raise hello-ms under [limits] if that is too soon",
                       n, time_us / 1000);
  return next;
}

guint
irisd_pending_connections_get_count (IrisdPendingConnections *self)
{
  pthread_mutex_lock (&self->lock);
  guint count = g_hash_table_size (self->by_fd);
  pthread_mutex_unlock (&self->lock);
  return count;
}

/* Returns a descriptor that becomes readable when the time of the next sweep may have changed. */
int
irisd_pending_connections_get_wake_fd (IrisdPendingConnections *self)
{
  return self->wake_fd;
}
