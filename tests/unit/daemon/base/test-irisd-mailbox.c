/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's mailbox: nothing lost, nothing twice, order kept, no sleep beside a message.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-mailbox.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define N_EACH 20000
#else
#define N_EACH 200000
#endif
#define N_POSTERS 3

typedef struct
{
  IrisdMessage message;
  guint poster;
  guint number;
} Note;

typedef struct
{
  IrisdMailbox *mailbox;
  Note *notes;
  guint id;
} Poster;

/* The message is the first member. */
static Note *
note_of (IrisdMessage *message)
{
  return (Note *) message;
}

static gboolean
is_readable (IrisdMailbox *mailbox)
{
  struct pollfd fd = { .fd = mailbox->fd, .events = POLLIN };
  return poll (&fd, 1, 0) == 1;
}

TEST (messages_come_out_in_the_order_in_which_they_were_posted)
{
  IrisdMailbox mailbox;
  ck_assert (irisd_mailbox_init (&mailbox, NULL));
  Note notes[5];
  ck_assert_ptr_null (irisd_mailbox_take (&mailbox));
  for (guint i = 0; i < 5; i++)
    {
      notes[i].number = i;
      irisd_mailbox_post (&mailbox, &notes[i].message);
    }
  IrisdMessage *message = irisd_mailbox_take (&mailbox);
  for (guint i = 0; i < 5; i++, message = message->next)
    ck_assert_uint_eq (note_of (message)->number, i);
  ck_assert_ptr_null (message);
  ck_assert_ptr_null (irisd_mailbox_take (&mailbox));
  irisd_mailbox_clear (&mailbox);
}

TEST (only_a_sleeper_is_woken_and_only_once)
{
  IrisdMailbox mailbox;
  ck_assert (irisd_mailbox_init (&mailbox, NULL));
  Note notes[3];
  irisd_mailbox_post (&mailbox, &notes[0].message);
  ck_assert (!is_readable (&mailbox));
  ck_assert (!irisd_mailbox_prepare_sleep (&mailbox));
  irisd_mailbox_take (&mailbox);

  ck_assert (irisd_mailbox_prepare_sleep (&mailbox));
  irisd_mailbox_post (&mailbox, &notes[1].message);
  irisd_mailbox_post (&mailbox, &notes[2].message);
  guint64 wakes = 0;
  ck_assert_int_eq (read (mailbox.fd, &wakes, sizeof wakes), sizeof wakes);
  ck_assert_uint_eq (wakes, 1);
  irisd_mailbox_finish_sleep (&mailbox, FALSE);
  irisd_mailbox_clear (&mailbox);
}

TEST (a_wake_without_a_message_ends_the_next_sleep)
{
  IrisdMailbox mailbox;
  ck_assert (irisd_mailbox_init (&mailbox, NULL));
  irisd_mailbox_wake (&mailbox);
  ck_assert (irisd_mailbox_prepare_sleep (&mailbox));
  ck_assert (is_readable (&mailbox));
  irisd_mailbox_finish_sleep (&mailbox, TRUE);
  ck_assert (!is_readable (&mailbox));
  irisd_mailbox_clear (&mailbox);
}

static gpointer
post_all (gpointer data)
{
  Poster *self = data;
  for (guint i = 0; i < N_EACH; i++)
    {
      self->notes[i].poster = self->id;
      self->notes[i].number = i;
      irisd_mailbox_post (self->mailbox, &self->notes[i].message);
    }
  return NULL;
}

static void
sleep_on (IrisdMailbox *mailbox)
{
  if (!irisd_mailbox_prepare_sleep (mailbox))
    return;
  /* Without an end: a wake that is lost makes this test hang. */
  struct pollfd fd = { .fd = mailbox->fd, .events = POLLIN };
  while (poll (&fd, 1, -1) < 0)
    ck_assert_int_eq (errno, EINTR);
  irisd_mailbox_finish_sleep (mailbox, TRUE);
}

TEST (under_load_nothing_is_lost_doubled_or_slept_through)
{
  IrisdMailbox mailbox;
  ck_assert (irisd_mailbox_init (&mailbox, NULL));
  Poster posters[N_POSTERS];
  GThread *threads[N_POSTERS];
  guint next[N_POSTERS] = { 0 };
  for (guint i = 0; i < N_POSTERS; i++)
    {
      posters[i] = (Poster){ &mailbox, g_new (Note, N_EACH), i };
      threads[i] = g_thread_new ("poster", post_all, &posters[i]);
    }
  guint n_wrong = 0;
  for (guint received = 0; received < N_POSTERS * N_EACH;)
    {
      IrisdMessage *message = irisd_mailbox_take (&mailbox);
      if (message == NULL)
        sleep_on (&mailbox);
      for (; message != NULL; message = message->next, received++)
        {
          Note *note = note_of (message);
          n_wrong += note->number != next[note->poster]++;
        }
    }
  ck_assert_uint_eq (n_wrong, 0);
  for (guint i = 0; i < N_POSTERS; i++)
    {
      g_thread_join (threads[i]);
      ck_assert_uint_eq (next[i], N_EACH);
      g_free (posters[i].notes);
    }
  ck_assert_ptr_null (irisd_mailbox_take (&mailbox));
  irisd_mailbox_clear (&mailbox);
}

TEST_MAIN ("irisd-mailbox", NULL, NULL)
