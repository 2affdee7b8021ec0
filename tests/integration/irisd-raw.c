/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ZMTP 3.0 (RFC 23) by hand, as a DEALER without security.
 */
#include "irisd-raw.h"

#include "irisd-fixture.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum
{
  FLAG_MORE = 1,
  FLAG_LONG = 2
};

/* @endpoint is one of ipc or of TCP over IPv4. Returns the descriptor. */
int
raw_connect (const char *endpoint)
{
  union
  {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_un un;
  } address = { 0 };
  socklen_t size = sizeof address.in;
  if (g_str_has_prefix (endpoint, "ipc://"))
    {
      address.un.sun_family = AF_UNIX;
      size = sizeof address.un;
      g_strlcpy (address.un.sun_path, endpoint + strlen ("ipc://"), sizeof address.un.sun_path);
    }
  else
    {
      const char *port = strrchr (endpoint, ':') + 1;
      address.in.sin_family = AF_INET;
      address.in.sin_port = htons ((guint16) g_ascii_strtoull (port, NULL, 10));
      address.in.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    }
  int fd = socket (address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (connect (fd, &address.any, size), 0);
  return fd;
}

/* Returns whether all of it was taken; the other side may close the connection. */
gboolean
raw_write (int fd, const void *data, gsize size)
{
  const guint8 *bytes = data;
  while (size > 0)
    {
      ssize_t n = send (fd, bytes, size, MSG_NOSIGNAL);
      if (n <= 0)
        return FALSE;
      bytes += n;
      size -= (gsize) n;
    }
  return TRUE;
}

gboolean
raw_write_greeting (int fd)
{
  static const guint8 greeting[64] = {
    0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'N', 'U', 'L', 'L'
  };
  return raw_write (fd, greeting, sizeof greeting);
}

/* Returns a descriptor after the handshake: messages come next. -1 if the other side has closed the
 * connection before. */
int
raw_try_connect_ready (const char *endpoint)
{
  static const char ready[] = "\x04\x29\x05READY\x0bSocket-Type\0\0\0\x06"
                              "DEALER\x08Identity\0\0\0";
  guint8 theirs[64 + sizeof ready];
  int fd = raw_connect (endpoint);
  if (raw_write_greeting (fd) && raw_write (fd, ready, sizeof ready)
      && recv (fd, theirs, sizeof theirs, MSG_WAITALL) == sizeof theirs)
    return fd;
  close (fd);
  return -1;
}

int
raw_connect_ready (const char *endpoint)
{
  int fd = raw_try_connect_ready (endpoint);
  ck_assert_int_ge (fd, 0);
  return fd;
}

gboolean
raw_write_frame (int fd, const void *data, gsize size, gboolean more)
{
  guint8 head[9] = { more ? FLAG_MORE : 0, (guint8) size };
  gsize n_head = 2;
  if (size > G_MAXUINT8)
    {
      guint64 length = GUINT64_TO_BE (size);
      head[0] |= FLAG_LONG;
      memcpy (head + 1, &length, sizeof length);
      n_head = 9;
    }
  return raw_write (fd, head, n_head) && raw_write (fd, data, size);
}

/* A request without a body, its type as a string of one byte. */
gboolean
raw_write_message (int fd, const char *type, const void *header, gsize size)
{
  static const guint8 id[16] = { 1 };
  return raw_write_frame (fd, "IRS1", 4, TRUE) && raw_write_frame (fd, type, 1, TRUE)
         && raw_write_frame (fd, id, sizeof id, TRUE) && raw_write_frame (fd, header, size, TRUE)
         && raw_write_frame (fd, "", 0, FALSE);
}

gboolean
raw_write_hello (int fd)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage hello;
  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&hello, IRIS_WIRE_HELLO, NULL);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  ck_assert (iris_wire_encode (&encoder, &hello, NULL));
  return raw_write_message (fd, (const char[]){ IRIS_WIRE_HELLO }, encoder.frames[3].data,
                            encoder.frames[3].size);
}

/* Waits until the other side has read all that was written; FALSE if it has closed the connection.
 */
gboolean
raw_try_wait_until_taken (int fd)
{
  int left = 1;
  while (left > 0)
    {
      struct pollfd end = { .fd = fd, .events = 0 };
      ck_assert_int_eq (ioctl (fd, SIOCOUTQ, &left), 0);
      if (poll (&end, 1, left > 0 ? 1 : 0) != 0)
        return FALSE;
    }
  return TRUE;
}

void
raw_wait_until_taken (int fd)
{
  ck_assert (raw_try_wait_until_taken (fd));
}

void
raw_wait_for_hang_up (int fd)
{
  char bytes[512];
  struct pollfd end = { .fd = fd, .events = POLLIN };
  do
    ck_assert_int_eq (poll (&end, 1, GIVE_UP_MS), 1);
  while (recv (fd, bytes, sizeof bytes, 0) > 0);
  close (fd);
}

/* Closes without a message: over TCP the other side gets a reset. */
void
raw_reset (int fd)
{
  struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
  setsockopt (fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close (fd);
}
