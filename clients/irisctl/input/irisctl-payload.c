/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item is given to work on.
 */
#include "clients/irisctl/input/irisctl-input.h"

#include <gio/gunixinputstream.h>
#include <unistd.h>

GBytes *
ctl_read_stdin (GError **error)
{
  g_autoptr (GInputStream) input = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  g_autoptr (GOutputStream) output = g_memory_output_stream_new_resizable ();

  if (g_output_stream_splice (output, input, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, error) < 0)
    return NULL;

  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (output));
}

GBytes *
ctl_read_file (const char *path, GError **error)
{
  char *data;
  gsize size;

  return g_file_get_contents (path, &data, &size, error) ? g_bytes_new_take (data, size) : NULL;
}
