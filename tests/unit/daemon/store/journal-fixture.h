/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journal under test, and a gateway's place before it: posts journal requests and waits for them.
 */
#pragma once

#include "daemon/store/irisd-journal.h"

#include <check.h>

extern char *dir;
extern IrisdLimits limits;
extern IrisdStore *store; /* the journal's */
extern IrisdJournal *journal;
extern IrisdMailbox home;
extern GPtrArray *again; /* what was recovered to be run */

#define HEADER_SIZE 7
extern const char header[HEADER_SIZE];

void note_again (const IrisdRecord *record, IrisdPersistentItem *persistent, gpointer user_data);
void open_journal (void);
void start_journal (void);
void close_journal (void);
void set_up (void);
void tear_down (void);
IrisdJournalRequest *new_keep (guint64 number, guint klass, const char *key, const char *body);
IrisdJournalRequest *new_end (IrisdPersistentItem *persistent, const char *body);
IrisdJournalRequest *new_fetch (guint64 number, guint64 wait_ms);
void forget_some (guint64 number, guint64 n);
void forget (guint64 number);
IrisdJournalRequest *new_done (guint64 number, guint n, guint klass, const char *body);
IrisdJournalRequest *receive (void);
IrisdJournalRequest *ask (IrisdJournalRequest *request);
IrisdPersistentItem *keep (guint64 number, guint klass);
void end (IrisdPersistentItem *persistent, const char *body);
void assert_fetched (guint64 number, const char *body);
void assert_refused (IrisdJournalRequest *request, IrisWireError code);
