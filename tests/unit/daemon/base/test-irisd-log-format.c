/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The log's forms: lines, JSON, and entries that a journald of the test's own receives.
 */
#include "core-test-run.h"

#include "daemon/base/irisd-log-journald.h"
#include "daemon/base/irisd-log.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const guint8 request[IRISD_LOG_REQUEST_SIZE] = { 0x00, 0x7f, 0xff };

static const IrisdLogSubject subject = {
  .item = G_MAXUINT64,
  .request = request,
  .has_place = TRUE,
  .place = 0,
  .service = "wordcount",
  .client = "a\n\"client\" \\ \001",
};

static IrisdLogRecord *
new_record (const IrisdLogSubject *about)
{
  const IrisdLogSource source = { "../daemon/x.c", 17, "run" };
  return irisd_log_record_new (IRISD_LOG_WARNING, &source, about, g_strdup ("two\nlines"));
}

TEST (a_line_is_a_sentence)
{
  g_autoptr (IrisdLogRecord) record = new_record (&subject);
  g_autoptr (GString) line = irisd_log_record_to_line (record);
  ck_assert_str_eq (line->str, "irisd: warning: two\nlines\n");
}

TEST (json_has_all_fields_and_one_line)
{
  g_autoptr (IrisdLogRecord) record = new_record (&subject);
  record->time_us = G_GINT64_CONSTANT (1000000) * G_USEC_PER_SEC + 42;
  g_autoptr (GString) json = irisd_log_record_to_json (record);
  ck_assert_str_eq (json->str,
                    "{\"time\":\"1970-01-12T13:46:40.000042Z\",\"level\":\"warning\","
                    "\"message\":\"two\\u000alines\",\"item\":18446744073709551615,"
                    "\"request\":\"007fff00000000000000000000000000\",\"place\":0,"
                    "\"service\":\"wordcount\",\"client\":\"a\\u000a\\\"client\\\" \\\\ "
                    "\\u0001\",\"file\":\"daemon/x.c\",\"line\":17,\"function\":\"run\"}\n");
}

TEST (json_leaves_out_what_an_event_is_not_about)
{
  g_autoptr (IrisdLogRecord)
      record = irisd_log_record_new (IRISD_LOG_INFO, NULL, NULL, g_strdup ("text \xff"));
  record->time_us = 0;
  g_autoptr (GString) json = irisd_log_record_to_json (record);
  ck_assert_str_eq (json->str, "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"level\":\"info\","
                               "\"message\":\"text \xef\xbf\xbd\"}\n");
}

/* Returns the value of @name in an entry of journald's protocol, or NULL. */
static char *
find_field (const char *entry, gsize size, const char *name)
{
  const char *at = entry, *end = entry + size;
  while (at < end)
    {
      gsize length = strcspn (at, "=\n");
      g_autofree char *key = g_strndup (at, length);
      g_autofree char *value = NULL;
      if (at[length] == '=')
        {
          const char *stop = memchr (at, '\n', (gsize) (end - at));
          ck_assert_ptr_nonnull (stop);
          value = g_strndup (at + length + 1, (gsize) (stop - at) - length - 1);
          at = stop + 1;
        }
      else
        {
          guint64 n;
          memcpy (&n, at + length + 1, sizeof n);
          n = GUINT64_FROM_LE (n);
          value = g_strndup (at + length + 1 + sizeof n, n);
          at += length + 1 + sizeof n + n;
          ck_assert_int_eq (*at++, '\n');
        }
      if (strcmp (key, name) == 0)
        return g_steal_pointer (&value);
    }
  return NULL;
}

typedef struct
{
  char *dir;
  char *path;
  int fd;
} Journald;

static void
journald_start (Journald *self)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  self->dir = g_dir_make_tmp ("iris-XXXXXX", NULL);
  self->path = g_build_filename (self->dir, "socket", NULL);
  g_strlcpy (address.sun_path, self->path, sizeof address.sun_path);
  self->fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ck_assert_int_eq (bind (self->fd, (struct sockaddr *) &address, sizeof address), 0);
}

static void
journald_stop (Journald *self)
{
  close (self->fd);
  g_unlink (self->path);
  g_rmdir (self->dir);
  g_free (self->path);
  g_free (self->dir);
}

/* Takes the next entry, which may come as a sealed file. */
static char *
journald_receive (Journald *self, gsize *size)
{
  static char buffer[65536];
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control;
  struct iovec part = { buffer, sizeof buffer - 1 };
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  memset (buffer, 0, sizeof buffer);
  ssize_t n = recvmsg (self->fd, &message, MSG_CMSG_CLOEXEC);
  ck_assert_int_ge (n, 0);
  *size = (gsize) n;
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  if (header == NULL)
    return g_memdup2 (buffer, *size + 1);
  int fd;
  struct stat st;
  memcpy (&fd, CMSG_DATA (header), sizeof fd);
  ck_assert_int_eq (fcntl (fd, F_GET_SEALS),
                    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  ck_assert_int_eq (fstat (fd, &st), 0);
  *size = (gsize) st.st_size;
  char *text = g_malloc (*size + 1);
  ck_assert_int_eq (pread (fd, text, *size, 0), st.st_size);
  text[*size] = '\0';
  close (fd);
  return text;
}

static void
assert_field (const char *entry, gsize size, const char *name, const char *expected)
{
  g_autofree char *value = find_field (entry, size, name);
  ck_assert_pstr_eq (value, expected);
}

TEST (journald_gets_every_field)
{
  Journald journald;
  gsize size;
  journald_start (&journald);
  ck_assert (irisd_log_set_format (IRISD_LOG_FORMAT_JOURNAL, journald.path, NULL));
  irisd_log_about (&subject, IRISD_LOG_ERROR, "two\nlines %d", 7);
  g_autofree char *entry = journald_receive (&journald, &size);
  assert_field (entry, size, "MESSAGE", "two\nlines 7");
  assert_field (entry, size, "PRIORITY", "3");
  assert_field (entry, size, "SYSLOG_IDENTIFIER", "irisd");
  assert_field (entry, size, "CODE_FUNC", __func__);
  assert_field (entry, size, "ITEM", "18446744073709551615");
  assert_field (entry, size, "REQUEST", "007fff00000000000000000000000000");
  assert_field (entry, size, "PLACE", "0");
  assert_field (entry, size, "SERVICE", "wordcount");
  assert_field (entry, size, "CLIENT", subject.client);
  g_autofree char *line = find_field (entry, size, "CODE_LINE");
  ck_assert_int_gt (g_ascii_strtoll (line, NULL, 10), 100);

  irisd_log (IRISD_LOG_INFO, "about nothing");
  g_autofree char *bare = journald_receive (&journald, &size);
  assert_field (bare, size, "ITEM", NULL);
  assert_field (bare, size, "PLACE", NULL);
  assert_field (bare, size, "PRIORITY", "6");
  irisd_log_set_format (IRISD_LOG_FORMAT_LINES, NULL, NULL);
  journald_stop (&journald);
}

TEST (a_long_entry_comes_as_a_sealed_file)
{
  Journald journald;
  gsize size;
  journald_start (&journald);
  ck_assert (irisd_log_set_format (IRISD_LOG_FORMAT_JOURNAL, journald.path, NULL));
  g_autofree char *text = g_strnfill (8 << 20, 'x');
  irisd_log (IRISD_LOG_INFO, "%s", text);
  g_autofree char *entry = journald_receive (&journald, &size);
  ck_assert_uint_gt (size, strlen (text));
  assert_field (entry, size, "MESSAGE", text);
  irisd_log_set_format (IRISD_LOG_FORMAT_LINES, NULL, NULL);
  journald_stop (&journald);
}

/* Runs @log with standard error in a file, and returns what is there afterwards. */
static char *
capture (void (*log) (void))
{
  int file = memfd_create ("stderr", MFD_CLOEXEC), before = dup (STDERR_FILENO);
  ck_assert_int_eq (dup2 (file, STDERR_FILENO), STDERR_FILENO);
  log ();
  ck_assert_int_eq (dup2 (before, STDERR_FILENO), STDERR_FILENO);
  close (before);
  off_t size = lseek (file, 0, SEEK_END);
  char *text = g_malloc0 ((gsize) size + 1);
  ck_assert_int_eq (pread (file, text, (gsize) size, 0), size);
  close (file);
  return text;
}

static void
log_one (void)
{
  irisd_log (IRISD_LOG_WARNING, "is there");
}

TEST (a_journald_that_is_gone_leaves_the_lines)
{
  Journald journald;
  journald_start (&journald);
  ck_assert (irisd_log_set_format (IRISD_LOG_FORMAT_JOURNAL, journald.path, NULL));
  journald_stop (&journald);
  g_autofree char *text = capture (log_one);
  ck_assert_str_eq (text, "irisd: warning: is there\n");

  g_autoptr (GError) error = NULL;
  ck_assert (!irisd_log_set_format (IRISD_LOG_FORMAT_JOURNAL, "/nowhere/socket", &error));
  ck_assert_ptr_nonnull (strstr (error->message, "--log-format lines"));
}

static void
log_with_the_writer (void)
{
  irisd_log_start_writer ();
  log_one ();
  irisd_log_end_writer ();
}

TEST (the_writer_sends_to_journald_even_if_standard_error_is_a_file)
{
  Journald journald;
  gsize size;
  journald_start (&journald);
  ck_assert (irisd_log_set_format (IRISD_LOG_FORMAT_JOURNAL, journald.path, NULL));
  g_autofree char *text = capture (log_with_the_writer);
  ck_assert_str_eq (text, "");
  g_autofree char *entry = journald_receive (&journald, &size);
  assert_field (entry, size, "MESSAGE", "is there");
  journald_stop (&journald);
}

static void
choose_by_stream (void)
{
  struct stat st;
  ck_assert_int_eq (fstat (STDERR_FILENO, &st), 0);
  g_autofree char *own = g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                          (guint64) st.st_dev, (guint64) st.st_ino);
  g_setenv ("JOURNAL_STREAM", "1:2", TRUE);
  ck_assert (!irisd_log_journald_is_stderr ());
  g_setenv ("JOURNAL_STREAM", own, TRUE);
  ck_assert (irisd_log_journald_is_stderr ());
  g_unsetenv ("JOURNAL_STREAM");
  ck_assert (!irisd_log_journald_is_stderr ());
}

TEST (journald_is_chosen_only_if_standard_error_is_its_stream)
{
  g_autofree char *text = capture (choose_by_stream);
  ck_assert_str_eq (text, "");
}

TEST_MAIN ("irisd-log-format", NULL, NULL)
