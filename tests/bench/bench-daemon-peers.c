/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Clients of beanstalkd and gearmand, as their protocols are written down (doc/protocol.txt of
 * beanstalkd 1.12, https://gearman.org/protocol/): many requests in one write, then their answers.
 */
#include "bench-contender.h"
#include "bench-daemon.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_S 60

struct _BenchStream
{
  int fd;
  GByteArray *out;
  guint8 *in; /* what came, from begin to end, in a buffer of that size */
  gsize begin, end, size;
};

/* --- streams ---------------------------------------------------------------------------------- */

static gboolean
fail_errno (GError **error, const char *what)
{
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "%s: %s", what, g_strerror (errno));

  return FALSE;
}

static int
connect_to (const char *endpoint)
{
  struct sockaddr_un local = { .sun_family = AF_UNIX };
  struct sockaddr_in inet = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  gboolean is_local = *endpoint == '/';
  int fd = socket (is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, status;
  struct timeval patience = { PATIENCE_S, 0 };

  g_strlcpy (local.sun_path, endpoint, sizeof local.sun_path);
  inet.sin_port = htons ((guint16) g_ascii_strtoull (endpoint, NULL, 10));
  if (is_local)
    status = connect (fd, (struct sockaddr *) &local, sizeof local);
  else
    status = connect (fd, (struct sockaddr *) &inet, sizeof inet);
  if (status == 0 && (is_local || setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0)
      && setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0)
    return fd;
  status = errno;
  close (fd);
  errno = status;

  return -1;
}

/**
 * bench_stream_new:
 * @endpoint: the path of a socket, or a port of this machine
 */
BenchStream *
bench_stream_new (const char *endpoint, GError **error)
{
  int fd = connect_to (endpoint);
  BenchStream *self;

  if (fd < 0)
    {
      fail_errno (error, endpoint);
      return NULL;
    }
  self = g_new0 (BenchStream, 1);
  self->fd = fd;
  self->out = g_byte_array_new ();

  return self;
}

void
bench_stream_free (BenchStream *self)
{
  close (self->fd);
  g_byte_array_unref (self->out);
  g_free (self->in);
  g_free (self);
}

void
bench_stream_put (BenchStream *self, gconstpointer data, gsize size)
{
  g_byte_array_append (self->out, data, (guint) size);
}

static void
put_text (BenchStream *self, const char *text)
{
  bench_stream_put (self, text, strlen (text));
}

gboolean
bench_stream_flush (BenchStream *self, GError **error)
{
  for (gsize done = 0; done < self->out->len;)
    {
      ssize_t n = send (self->fd, self->out->data + done, self->out->len - done, MSG_NOSIGNAL);

      if (n < 0 && errno != EINTR)
        return fail_errno (error, "cannot send");
      done += (gsize) MAX (n, 0);
    }
  g_byte_array_set_size (self->out, 0);

  return TRUE;
}

gboolean
bench_stream_is_readable (BenchStream *self, guint timeout_ms)
{
  struct pollfd poll_fd = { self->fd, POLLIN, 0 };

  return self->begin < self->end || poll (&poll_fd, 1, (int) timeout_ms) > 0;
}

static gboolean
fill (BenchStream *self, GError **error)
{
  ssize_t n;

  if (self->begin > 0)
    memmove (self->in, self->in + self->begin, self->end - self->begin);
  self->end -= self->begin;
  self->begin = 0;
  if (self->size - self->end < 65536)
    self->in = g_realloc (self->in, self->size = self->end + 131072);
  do
    n = recv (self->fd, self->in + self->end, self->size - self->end, 0);
  while (n < 0 && errno == EINTR);
  if (n <= 0)
    {
      if (n == 0)
        errno = ECONNRESET;
      return fail_errno (error, "no answer");
    }
  self->end += (gsize) n;

  return TRUE;
}

/* So many bytes; they hold until the next call. */
const guint8 *
bench_stream_read (BenchStream *self, gsize size, GError **error)
{
  while (self->end - self->begin < size)
    if (!fill (self, error))
      return NULL;
  self->begin += size;

  return self->in + self->begin - size;
}

/* A line without its end; it holds until the next call. */
const char *
bench_stream_read_line (BenchStream *self, GError **error)
{
  gsize looked = 0;
  guint8 *end;

  if (self->begin == self->end && !fill (self, error))
    return NULL;
  for (;;)
    {
      guint8 *from = self->in + self->begin;

      end = looked < self->end - self->begin
                ? memchr (from + looked, '\n', self->end - self->begin - looked)
                : NULL;
      if (end != NULL && end > from && end[-1] == '\r')
        {
          end[-1] = '\0';
          self->begin += (gsize) (end + 1 - from);
          return (const char *) from;
        }
      looked = self->end - self->begin;
      if (!fill (self, error))
        return NULL;
    }
}

/* --- beanstalkd: put, reserve, delete --------------------------------------------------------- */

static gboolean
fail_line (GError **error, const char *line)
{
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT, "beanstalkd answered: %s", line);

  return FALSE;
}

static gboolean
expect (BenchStream *self, const char *prefix, GError **error)
{
  const char *line = bench_stream_read_line (self, error);

  return line != NULL && (g_str_has_prefix (line, prefix) || fail_line (error, line));
}

static void
put_jobs (BenchStream *self, const BenchLoad *load, const guint8 *payload, guint n)
{
  g_autofree char *put = g_strdup_printf ("put 0 0 60 %" G_GSIZE_FORMAT "\r\n", load->size);

  for (guint i = 0; i < n; i++)
    {
      put_text (self, put);
      bench_stream_put (self, payload, load->size);
      put_text (self, "\r\n");
    }
}

static gboolean
take_job (BenchStream *self, const BenchLoad *load, GString *deletes, GError **error)
{
  const char *line = bench_stream_read_line (self, error);
  guint64 id;
  char *rest;

  if (line == NULL)
    return FALSE;
  if (!g_str_has_prefix (line, "RESERVED "))
    return fail_line (error, line);
  id = g_ascii_strtoull (line + strlen ("RESERVED "), &rest, 10);
  if (g_ascii_strtoull (rest, NULL, 10) != load->size)
    return fail_line (error, line);
  g_string_append_printf (deletes, "delete %" G_GUINT64_FORMAT "\r\n", id);

  return bench_stream_read (self, load->size + 2, error) != NULL;
}

/* A client that waits for each answer: one command in each write. */
static gboolean
run_cycle (BenchStream *self, const BenchLoad *load, const guint8 *payload, GError **error)
{
  g_autoptr (GString) deletes = g_string_new (NULL);

  put_jobs (self, load, payload, 1);
  if (!bench_stream_flush (self, error) || !expect (self, "INSERTED ", error))
    return FALSE;
  put_text (self, "reserve\r\n");
  if (!bench_stream_flush (self, error) || !take_job (self, load, deletes, error))
    return FALSE;
  put_text (self, deletes->str);

  return bench_stream_flush (self, error) && expect (self, "DELETED", error);
}

/* In one write: what deletes the window before, puts the next one, and reserves as many. */
static gboolean
run_window (BenchStream *self,
            const BenchLoad *load,
            const guint8 *payload,
            guint n,
            GString *deletes,
            guint n_deletes,
            GError **error)
{
  put_text (self, deletes->str);
  g_string_truncate (deletes, 0);
  put_jobs (self, load, payload, n);
  for (guint i = 0; i < n; i++)
    put_text (self, "reserve\r\n");
  if (!bench_stream_flush (self, error))
    return FALSE;
  for (guint i = 0; i < n_deletes; i++)
    if (!expect (self, "DELETED", error))
      return FALSE;
  for (guint i = 0; i < n; i++)
    if (!expect (self, "INSERTED ", error))
      return FALSE;
  for (guint i = 0; i < n; i++)
    if (!take_job (self, load, deletes, error))
      return FALSE;

  return TRUE;
}

/**
 * bench_beanstalk_run:
 *
 * Life cycles of jobs: put, reserve, delete.
 */
gboolean
bench_beanstalk_run (BenchStream *self, const BenchLoad *load, GError **error)
{
  g_autofree guint8 *payload = g_malloc0 (load->size);
  g_autoptr (GString) deletes = g_string_new (NULL);
  guint n = 0, before = 0;

  for (guint done = 0; done < load->items; done += n)
    {
      n = MIN (load->window, load->items - done);
      if (load->window == 1 ? !run_cycle (self, load, payload, error)
                            : !run_window (self, load, payload, n, deletes, before, error))
        return FALSE;
      before = n;
    }

  return load->window == 1 || run_window (self, load, payload, 0, deletes, before, error);
}

/* --- gearmand: jobs in the background, and workers -------------------------------------------- */

typedef enum
{
  CAN_DO = 1,
  PRE_SLEEP = 4,
  NOOP = 6,
  JOB_CREATED = 8,
  GRAB_JOB = 9,
  NO_JOB = 10,
  JOB_ASSIGN = 11,
  WORK_COMPLETE = 13,
  ECHO_REQ = 16,
  ECHO_RES = 17,
  SUBMIT_JOB_BG = 18,
} GearmanType;

#define GEARMAN_FUNCTION "bench"
#define NAP_MS           5

static void
put_packet (BenchStream *self, GearmanType type, gsize size)
{
  guint32 numbers[] = { htonl (type), htonl ((guint32) size) };

  bench_stream_put (self, "\0REQ", 4);
  bench_stream_put (self, numbers, sizeof numbers);
}

/* The arguments of a packet; they hold until the next call. */
static gboolean
take_packet (BenchStream *self, GearmanType *type, const guint8 **data, gsize *size, GError **error)
{
  const guint8 *head = bench_stream_read (self, 12, error);
  guint32 numbers[2];

  if (head == NULL)
    return FALSE;
  memcpy (numbers, head + 4, sizeof numbers);
  *type = ntohl (numbers[0]);
  *size = ntohl (numbers[1]);
  *data = bench_stream_read (self, *size, error);

  return *data != NULL;
}

static gboolean
fail_packet (GError **error, GearmanType type)
{
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT, "gearmand answered with packet %d", type);

  return FALSE;
}

gboolean
bench_gearman_submit (BenchStream *self, const BenchLoad *load, GError **error)
{
  static const char names[] = GEARMAN_FUNCTION "\0"; /* and no name of its own, so no look-up */
  g_autofree guint8 *payload = g_malloc0 (load->size);

  for (guint done = 0; done < load->items; done += load->window)
    {
      guint n = MIN (load->window, load->items - done);

      for (guint i = 0; i < n; i++)
        {
          put_packet (self, SUBMIT_JOB_BG, sizeof names + load->size);
          bench_stream_put (self, names, sizeof names);
          bench_stream_put (self, payload, load->size);
        }
      if (!bench_stream_flush (self, error))
        return FALSE;
      for (guint i = 0; i < n; i++)
        {
          GearmanType type;
          const guint8 *data;
          gsize size;

          if (!take_packet (self, &type, &data, &size, error))
            return FALSE;
          if (type != JOB_CREATED)
            return fail_packet (error, type);
        }
    }

  return TRUE;
}

/* Its result is its payload. */
static gboolean
complete (BenchStream *self, const guint8 *job, gsize size, const BenchLoad *load, GError **error)
{
  const guint8 *function = memchr (job, '\0', size);
  gsize handle = function != NULL ? (gsize) (function + 1 - job) : 0;
  gsize before = handle + sizeof GEARMAN_FUNCTION;

  if (function == NULL || before + load->size != size)
    return fail_packet (error, JOB_ASSIGN);
  put_packet (self, WORK_COMPLETE, handle + load->size);
  bench_stream_put (self, job, handle);
  bench_stream_put (self, job + before, load->size);

  return TRUE;
}

static gboolean
grab (BenchStream *self, const BenchLoad *load, guint *n_done, GError **error)
{
  for (guint i = 0; i < load->window; i++)
    put_packet (self, GRAB_JOB, 0);
  if (!bench_stream_flush (self, error))
    return FALSE;
  for (guint i = 0; i < load->window;)
    {
      GearmanType type;
      const guint8 *data;
      gsize size;

      if (!take_packet (self, &type, &data, &size, error))
        return FALSE;
      if (type != JOB_ASSIGN && type != NO_JOB && type != NOOP)
        return fail_packet (error, type);
      if (type == JOB_ASSIGN && !complete (self, data, size, load, error))
        return FALSE;
      *n_done += type == JOB_ASSIGN;
      i += type != NOOP;
    }

  return TRUE;
}

static void
note_done (BenchGearmanWork *work, guint n)
{
  guint64 before = atomic_fetch_add_explicit (&work->done, n, memory_order_relaxed);

  if (n > 0 && before + n == work->jobs)
    atomic_store_explicit (&work->end_ns, bench_now (), memory_order_relaxed);
}

static gboolean
is_over (BenchGearmanWork *work)
{
  return atomic_load_explicit (&work->done, memory_order_relaxed) >= work->jobs
         || atomic_load_explicit (&work->failed, memory_order_relaxed);
}

/* gearmand has read all that was sent when it answers: nothing is left for the next one. */
static gboolean
settle (BenchStream *self, GError **error)
{
  GearmanType type = NOOP;
  const guint8 *data;
  gsize size;

  put_packet (self, ECHO_REQ, 0);
  if (!bench_stream_flush (self, error))
    return FALSE;
  while (type == NOOP)
    if (!take_packet (self, &type, &data, &size, error))
      return FALSE;

  return type == ECHO_RES || fail_packet (error, type);
}

/**
 * bench_gearman_work:
 *
 * Serves jobs, a window of them at a time, and sleeps as the protocol says when there are none.
 */
gboolean
bench_gearman_work (BenchStream *self,
                    BenchGearmanWork *work,
                    const BenchLoad *load,
                    GError **error)
{
  put_packet (self, CAN_DO, strlen (GEARMAN_FUNCTION));
  put_text (self, GEARMAN_FUNCTION);
  while (!is_over (work))
    {
      guint n = 0;

      if (!grab (self, load, &n, error))
        return FALSE;
      note_done (work, n);
      if (n > 0)
        continue;
      put_packet (self, PRE_SLEEP, 0);
      if (!bench_stream_flush (self, error))
        return FALSE;
      while (!is_over (work) && !bench_stream_is_readable (self, NAP_MS))
        continue;
    }

  return settle (self, error);
}
