/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The report about a damaged store: at the start of irisd, and by `irisd --check-journal`.
 */
#include "daemon/store/sqlite/irisd-sqlite-private.h"

#include "daemon/base/irisd-error.h"
#include "daemon/store/sqlite/irisd-sqlite-pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/* Numbers of damaged items that a check lists. */
#define MOST_LISTED 20

#define U64 G_GUINT64_FORMAT

/* Returns how many rows are lost, at least. */
guint64
irisd_store_count_lost (const IrisdStoreDamage *damage)
{
  return damage->uncounted ? damage->rows + damage->gaps : damage->missing;
}

static gboolean
is_damaged (const IrisdStoreDamage *damage)
{
  return damage->missing + damage->missing_at_most + damage->transactions + damage->rows
                 + damage->gaps + damage->returned + damage->records
             > 0
         || damage->tail || damage->mark;
}

static void
append_lost (GString *text, const IrisdStoreDamage *damage)
{
  if (damage->uncounted)
    g_string_append (text, "the number of lost items is unknown, because the journal's count of "
                           "them is lost too");
  else if (damage->only_missing != 0)
    g_string_append_printf (text, "item %" U64 " of %" U64 " items is lost", damage->only_missing,
                            damage->expected);
  else if (damage->missing == damage->missing_at_most)
    g_string_append_printf (text, "%" U64 " of %" U64 " items are lost", damage->missing,
                            damage->expected);
  else if (damage->missing_at_most >= damage->expected)
    g_string_append_printf (text, "at least %" U64 " of %" U64 " items are lost", damage->missing,
                            damage->expected);
  else
    g_string_append_printf (text,
                            "%" U64 " to %" U64 " items are lost, of %" U64 " that there should be",
                            damage->missing, damage->missing_at_most, damage->expected);
}

/* @n_unreadable rows are whole and make no sense; @mended: the store was opened, not only checked.
 * Returns one sentence, or NULL if all is well. */
char *
irisd_store_describe_damage (const IrisdStoreDamage *damage, guint64 n_unreadable, gboolean mended)
{
  if (!is_damaged (damage) && n_unreadable == 0)
    return NULL;
  g_autoptr (GString) text = g_string_new ("the journal is damaged: ");
  append_lost (text, damage);
  if (damage->rows > 0)
    g_string_append_printf (text, "; %" U64 " of them can be seen in part", damage->rows);
  if (n_unreadable > 0)
    g_string_append_printf (text, "; %" U64 " items make no sense and are left out", n_unreadable);
  if (damage->records > 0)
    g_string_append_printf (text, "; of the records of schedules and queues %" U64 " are damaged",
                            damage->records);
  if (damage->transactions > 0)
    g_string_append_printf (text,
                            "; the last %" U64 " transactions are missing from its log, so items "
                            "that had ended may run again, and others may be fetched again",
                            damage->transactions);
  if (damage->transactions == 0 && damage->returned > 0)
    g_string_append (text, "; items that were acknowledged may be there again");
  if (damage->tail)
    g_string_append (text, "; its log is damaged");
  if (damage->mark)
    g_string_append (text, "; its own count of the items cannot be read");
  if (mended && damage->tail)
    g_string_append (text, "; the log as it was lies beside it as *-wal.damaged-*");
  if (mended && (damage->gaps > 0 || damage->mark))
    g_string_append (text, "; the old file lies beside the new one as items.sqlite.damaged-*");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

typedef struct
{
  GHashTable *seen;
  IrisdTally found;
} Count;

static void
count_row (const IrisdRow *row, gpointer user_data)
{
  Count *count = user_data;
  if (g_hash_table_add (count->seen, GSIZE_TO_POINTER (row->id)))
    irisd_tally_add (&count->found, row->id);
}

/* Fails if an irisd holds the lock. */
static gboolean
check_not_in_use (const char *dir, GError **error)
{
  g_autofree char *path = g_build_filename (dir, "irisd.lock", NULL);
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  gboolean held = fd >= 0 && flock (fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (fd >= 0)
    close (fd);
  if (held)
    g_set_error (error, IRISD_ERROR, IRISD_ERROR_ALREADY_RUNNING,
                 "cannot check the journal %s: an irisd has it open; stop it, or check a copy of "
                 "the directory",
                 dir);
  return !held;
}

static void
append_details (GString *text,
                const IrisdPagesReport *pages,
                const IrisdTally *file,
                const Count *count)
{
  g_string_append_printf (text, "%" U64 " items are whole", count->found.n_rows);
  if (pages->mark.sequence > 0)
    g_string_append_printf (text,
                            "\nthe database counts %" U64 " items after %" U64 " transactions",
                            pages->mark.n_rows, pages->mark.sequence);
  else
    g_string_append (text, "\nthe database holds no count of its items");
  if (file->sequence > 0)
    g_string_append_printf (text,
                            "\nthe file %s%s counts %" U64 " items after %" U64 " transactions",
                            IRISD_SQLITE_NAME, IRISD_TALLY_SUFFIX, file->n_rows, file->sequence);
  else
    g_string_append_printf (text, "\nthe file %s%s is missing or damaged", IRISD_SQLITE_NAME,
                            IRISD_TALLY_SUFFIX);
  if (pages->n_records + pages->n_bad_records > 0)
    g_string_append_printf (text, "\n%" U64 " records of schedules and queues are whole",
                            pages->n_records);
  g_string_append_printf (text, "\n%u of %u pages make no sense", pages->n_unreadable,
                          pages->n_pages);
  for (guint i = 0; i < MIN (pages->bad->len, MOST_LISTED); i++)
    g_string_append_printf (text, "\nitem %" U64 " is damaged",
                            g_array_index (pages->bad, guint64, i));
  if (pages->bad->len > MOST_LISTED)
    g_string_append_printf (text, "\n%u more items are damaged", pages->bad->len - MOST_LISTED);
  if (pages->log_damaged)
    g_string_append (text, "\nthe log is damaged other than by a crash");
}

/* Checks the store in @dir, which is not open; nothing in it is changed. Returns whether it could
 * be checked and is whole; if it could be, @report has the findings, a line each, the verdict last.
 */
gboolean
irisd_store_check (const char *dir, char **report, GError **error)
{
  g_autofree char *path = g_build_filename (dir, IRISD_SQLITE_NAME, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  Count count = { .seen = seen };
  IrisdPagesReport pages;
  IrisdTally file = { 0 };
  *report = NULL;
  if (!check_not_in_use (dir, error))
    return FALSE;
  gboolean any = irisd_pages_scan (path, count_row, NULL, &count, &pages);
  if (!irisd_tally_read_file (path, &file) && !any)
    {
      g_array_unref (pages.bad);
      return irisd_fail (
          error, IRISD_ERROR, IRISD_ERROR_FAILED,
          "cannot check the journal: there is none in %s; give the directory of --journal", dir);
    }
  IrisdStoreDamage damage = { .rows = pages.bad->len,
                              .gaps = pages.n_unreadable,
                              .records = pages.n_bad_records,
                              .tail = pages.log_damaged };
  irisd_tally_judge (&pages.mark, &file, &count.found, &damage);
  append_details (text, &pages, &file, &count);
  g_autofree char *reason = irisd_store_describe_damage (&damage, 0, FALSE);
  gboolean whole = reason == NULL;
  g_string_append_printf (text, "\n%s", whole ? "the journal is whole" : reason);
  g_array_unref (pages.bad);
  *report = g_string_free (g_steal_pointer (&text), FALSE);
  return whole;
}
