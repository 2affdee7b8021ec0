/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * BACKUP: a copy of the journal while irisd runs.
 *
 * Only operators may ask (irisd-policy.c), and only over ipc: the path is one of this machine.
 */
#include "daemon/gateway/irisd-backup-requests.h"

#include "daemon/gateway/irisd-item-requests.h"
#include "daemon/gateway/irisd-send.h"
#include "daemon/gateway/irisd-submit.h"

#include <string.h>

void
irisd_backup_requests_begin (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *request)
{
  const char *why = NULL;
  if (!irisd_item_requests_may_ask (self, caller, request)
      || !irisd_submit_may_ask (self, caller, request, FALSE))
    return;
  if (caller->over_tcp)
    why = "a backup is made on irisd's own machine: ask over its socket there";
  else if (request->path.len == 0 || request->path.data[0] != '/'
           || memchr (request->path.data, '\0', request->path.len) != NULL)
    why = "the directory of a backup is an absolute path; irisd does not know yours";
  if (why != NULL)
    {
      g_autoptr (GError)
          error = g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT, why);
      irisd_send_refusal (self, caller, request->request_id, error);
      return;
    }
  IrisdJournalRequest *journal_request = irisd_items_new_request (
      &self->items, IRISD_JOURNAL_REQUEST_BACKUP, caller->peer, request->request_id);
  journal_request->reason = iris_wire_string_dup (&request->path);
  caller->peer->n_questions++;
  irisd_journal_post (self->core->journal, journal_request);
}

/* The copy is there, or could not be made. */
void
irisd_backup_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *answer)
{
  const IrisdCaller caller = { .route = answer->peer->route, .peer = answer->peer };
  answer->peer->n_questions--;
  if (irisd_peer_is_gone (answer->peer))
    return;
  if (answer->error != NULL)
    irisd_send_refusal (self, &caller, answer->request_id, answer->error);
  else
    irisd_send_changed (self, &caller, answer->request_id, answer->count);
}
