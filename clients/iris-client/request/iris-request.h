/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A work item, before it is sent.
 */
#pragma once

#include <iris-client/base/iris-client-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

/**
 * IrisDurability:
 * @IRIS_DURABILITY_VOLATILE: the item is lost if irisd is; the default
 * @IRIS_DURABILITY_RELAXED: the item is on the disk a moment after it was accepted
 * @IRIS_DURABILITY_DURABLE: the item is on the disk before it is accepted, its end before it is
 * told
 *
 * What of an item survives a crash of irisd or of its machine.
 */
typedef enum
{
  IRIS_DURABILITY_VOLATILE = 0,
  IRIS_DURABILITY_RELAXED = 1,
  IRIS_DURABILITY_DURABLE = 2,
} IrisDurability;

#define IRIS_TYPE_REQUEST (iris_request_get_type ())

/**
 * IrisRequest:
 *
 * A work item, before it is sent: a service, what it is to work on, and where it should run.
 *
 * A request may be submitted several times; from the first time on it must not be changed.
 */
typedef struct _IrisRequest IrisRequest;

/**
 * IrisRequestAfter:
 * @IRIS_REQUEST_AFTER_ALL: when all of them have ended, however
 * @IRIS_REQUEST_AFTER_ANY: when one of them has ended, however
 * @IRIS_REQUEST_AFTER_SUCCESS: when all of them have ended well; if one does not, the item fails
 *
 * What an item waits for, of those that it comes after. An item ends well by a result, and as a
 * command by the exit status 0.
 */
typedef enum
{
  IRIS_REQUEST_AFTER_ALL = 1,
  IRIS_REQUEST_AFTER_ANY = 2,
  IRIS_REQUEST_AFTER_SUCCESS = 3,
} IrisRequestAfter;

/**
 * IrisRequestAcceptedFunc:
 * @request: the request
 * @item: the number that irisd gave the item
 * @user_data: what was passed with the function
 *
 * Is told that irisd has accepted an item.
 */
typedef void (*IrisRequestAcceptedFunc) (IrisRequest *request, guint64 item, gpointer user_data);

IRIS_CLIENT_AVAILABLE_IN_ALL
GType iris_request_get_type (void);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisRequest *iris_request_new (const char *service);
IRIS_CLIENT_AVAILABLE_IN_ALL
IrisRequest *iris_request_ref (IrisRequest *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_unref (IrisRequest *self);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_payload (IrisRequest *self, GBytes *payload);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_path (IrisRequest *self, const char *path);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_args (IrisRequest *self, const char *const *args);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_content_type (IrisRequest *self, const char *content_type);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_place (IrisRequest *self, int place);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_place_name (IrisRequest *self, const char *name);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_node (IrisRequest *self, const char *node);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_any_node (IrisRequest *self, gboolean any_node);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_near_item (IrisRequest *self, guint64 item);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_near_path (IrisRequest *self, const char *path);
IRIS_CLIENT_AVAILABLE_IN_ALL
gboolean
iris_request_set_traceparent (IrisRequest *self, const char *traceparent, const char *tracestate);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_strict (IrisRequest *self, gboolean strict);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_footprint (IrisRequest *self, guint64 bytes, gboolean keep_apart);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_durability (IrisRequest *self, IrisDurability durability);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_key (IrisRequest *self, const char *key);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_keep (IrisRequest *self, guint64 milliseconds);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_detached (IrisRequest *self, gboolean detached);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_bury (IrisRequest *self, gboolean bury);

/**
 * IrisRequestOutputFunc:
 * @request: the request
 * @is_error: whether it was written to standard error, not to standard output
 * @bytes: a part of what the command wrote
 * @user_data: what the function was set with
 *
 * Takes output of a running command as it comes. What it has taken, the command may write more of:
 * while it works, the command waits when its pipe is full.
 */
typedef void (*IrisRequestOutputFunc) (IrisRequest *request,
                                       gboolean is_error,
                                       GBytes *bytes,
                                       gpointer user_data);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_directory (IrisRequest *self, const char *directory);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_environment (IrisRequest *self, const char *const *variables, gboolean clear);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_nice (IrisRequest *self, int nice);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_limits (IrisRequest *self, const char *const *limits);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_time_limit (IrisRequest *self, guint64 milliseconds);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_grace (IrisRequest *self, guint64 milliseconds);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_hook (IrisRequest *self, const char *const *hook);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_keep_output (IrisRequest *self, guint64 bytes, gboolean tail_only);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_output_func (IrisRequest *self,
                                   IrisRequestOutputFunc func,
                                   gpointer user_data,
                                   GDestroyNotify destroy);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_delay (IrisRequest *self, guint64 delay_ms);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_time (IrisRequest *self, gint64 at_ms);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_priority (IrisRequest *self, int priority);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_queue (IrisRequest *self, const char *queue);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_after (IrisRequest *self,
                             const guint64 *items,
                             gsize n_items,
                             IrisRequestAfter how);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_after_away (IrisRequest *self, const char *const *items);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_retries (IrisRequest *self, guint retries);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_backoff (IrisRequest *self, guint64 backoff_ms);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_time_to_run (IrisRequest *self, guint64 time_to_run_ms);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_deadline (IrisRequest *self, guint64 deadline_ms);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_wait_for_service (IrisRequest *self, gboolean wait_for_service);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_accepted_func (IrisRequest *self,
                                     IrisRequestAcceptedFunc func,
                                     gpointer user_data,
                                     GDestroyNotify destroy);

/**
 * IrisRequestProgressFunc:
 * @request: the request
 * @fraction: how much is done, from 0 to 1; below 0 if that is not known
 * @note: (nullable): for a person: what is being done
 * @user_data: what the function was set with
 *
 * Is told how far an item is.
 */
typedef void (*IrisRequestProgressFunc) (IrisRequest *request,
                                         double fraction,
                                         const char *note,
                                         gpointer user_data);

/**
 * IrisRequestPartFunc:
 * @request: the request
 * @attempt: from 1; if it is another one than before, the item was given to another worker, and its
 *   parts begin anew
 * @part: a part of the result
 * @user_data: what the function was set with
 *
 * Takes a part of an item's result. What it has taken, the worker may send more of.
 */
typedef void (*IrisRequestPartFunc) (IrisRequest *request,
                                     guint attempt,
                                     GBytes *part,
                                     gpointer user_data);

IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_progress_func (IrisRequest *self,
                                     IrisRequestProgressFunc func,
                                     gpointer user_data,
                                     GDestroyNotify destroy);
IRIS_CLIENT_AVAILABLE_IN_ALL
void iris_request_set_part_func (IrisRequest *self,
                                 IrisRequestPartFunc func,
                                 gpointer user_data,
                                 GDestroyNotify destroy);

IRIS_CLIENT_AVAILABLE_IN_ALL
guint64 iris_request_get_item (IrisRequest *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_request_get_service (IrisRequest *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_request_get_path (IrisRequest *self);
IRIS_CLIENT_AVAILABLE_IN_ALL
const char *iris_request_get_id (IrisRequest *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisRequest, iris_request_unref)

G_END_DECLS
