/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A private irisd for one test, and a client that encodes and decodes the protocol itself.
 *
 * Nothing sleeps: irisd writes to a pipe when it is ready, and clients wait for answers. A receive
 * gives up after two minutes, so that a hang becomes a failure with a name.
 */
#pragma once

#include "core-test-run.h"

#include <gio/gio.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Repetitions of a step; fewer where each costs ten times as much. */
#define TIMES(n) (SANITIZED ? (n) / 20 : (n))

/* After this a wait counts as a hang. */
#define GIVE_UP_MS (120 * 1000)

/* Two places of one worker each, on any machine. */
#define TWO_PLACES "--topology=package:2 core:1 pu:1", "--places=package"
#define ONE_WORKER "--topology=package:1 core:1 pu:1", "--places=machine"

typedef struct
{
  char *dir;   /* where its sockets are */
  char *front; /* endpoints */
  char *tcp;   /* NULL without --tcp */
  GSubprocess *process;
  pid_t pid;
} Irisd;

Irisd *irisd_start (const char *config, ...) G_GNUC_NULL_TERMINATED;
Irisd *irisd_start_in (const char *dir, const char *config, const char *const *options);
char *irisd_fail_to_start (const char *config, int *status);
GSubprocess *
irisd_spawn (const char *dir, const char *config, const char *const *options, int ready_fd);
void die_with_test (gpointer data);
void shim_load (const char *library, const char *variable, const char *value);
void shim_unload (void);
void irisd_pause (Irisd *self);
void irisd_signal (Irisd *self, int signal_number);
int irisd_wait (Irisd *self);
void irisd_release (Irisd *self);
void irisd_remove_all (const char *path);
void irisd_free (Irisd *self);
void irisd_finish (Irisd *self);
char *irisd_read_log (Irisd *self);
char *irisd_place_endpoint (Irisd *self, guint place);
guint64 irisd_get_rss_kib (Irisd *self);
guint64 irisd_get_peak_rss_kib (Irisd *self);

/* A named pipe that keeps a command waiting until the test opens it, or by which a command tells
 * the test that it runs. */
char *gate_new (Irisd *irisd, const char *name);
void gate_open (const char *gate);
int gate_wait (const char *gate);

typedef struct
{
  void *socket;
  IrisWireEncoder encoder;
  guint64 next_id;
  zmq_msg_t frames[IRIS_WIRE_N_FRAMES];
  IrisWireMessage message; /* the last one received; borrows from the frames */
  GByteArray
      *completions; /* request ids of completions received and not acknowledged, oldest first */
} Client;

Client *client_new (const char *endpoint);
Client *client_new_named (const char *endpoint, const char *route);
Client *client_hello (const char *endpoint);
void client_free (Client *self);
void client_say_hello (Client *self);
void client_send_ready (Client *worker, const char *service, guint capacity);
const IrisWireMessage *client_enroll (Client *worker, const char *service, guint capacity);
void client_init_message (Client *self, IrisWireMessage *message, IrisWireType type);
void client_send (Client *self, const IrisWireMessage *message);
void client_send_frames (Client *self, const IrisWireFrame *frames, guint n);
gboolean client_try_receive (Client *self);
const IrisWireMessage *client_receive_any (Client *self);
const IrisWireMessage *client_receive (Client *self);
const IrisWireMessage *client_receive_type (Client *self, IrisWireType type);
const IrisWireMessage *client_receive_completion (Client *self);
const IrisWireMessage *client_call (Client *self, IrisWireType type, IrisWireType answer);
void client_ack (Client *self, guint count);
void client_ack_ids (Client *self, const guint64 *ids, guint n);
void client_ack_until (Client *self, guint64 id, guint count);
guint64 client_submit (Client *self,
                       const char *service,
                       const void *payload,
                       gsize size,
                       gint hint,
                       gboolean strict);
guint64 client_submit_path (Client *self, const char *service, const char *path);
guint64 client_submit_command (Client *self, const char *input, const char *const *argv);
guint64 client_occupy (Client *self, const char *gate, gint place);
void client_grant (Client *self, guint64 id, guint64 bytes);
void client_cancel (Client *self, guint64 id);
void client_cancel_anywhere (Client *self, guint64 id);
guint64 message_get_id (const IrisWireMessage *message);
void message_set_id (IrisWireMessage *message, guint64 id);
gboolean message_body_is (const IrisWireMessage *message, const char *text);
IrisWireStatus *client_get_status (Client *self);

/* A key pair of CURVE, in Z85. */
typedef struct
{
  char public_key[41];
  char secret[41];
} KeyPair;

void key_pair_new (KeyPair *self);
void key_pair_write (const KeyPair *self, const char *path, const char *more, guint mode);
Client *client_new_with_key (const char *endpoint, const KeyPair *own, const char *server);

#define assert_error(reply, wanted)                                                          \
  do                                                                                         \
    {                                                                                        \
      const IrisWireMessage *reply_ = (reply);                                               \
      ck_assert_str_eq (iris_wire_type_name (reply_->type), "ERROR");                        \
      ck_assert_str_eq (iris_wire_error_name (reply_->code), iris_wire_error_name (wanted)); \
      ck_assert_uint_gt (reply_->message.len, 0);                                            \
    }                                                                                        \
  while (0)

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Client, client_free)
