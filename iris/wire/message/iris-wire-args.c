/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lists of a message: walking over them.
 */
#include "iris-wire-args.h"

#include <iris/wire/base/iris-wire-reader-private.h>

#include <string.h>

void
iris_wire_args_iter_init (IrisWireArgsIter *self, const IrisWireArgs *args)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (args != NULL);

  *self = (IrisWireArgsIter){ .args = *args };
}

gboolean
iris_wire_args_iter_next (IrisWireArgsIter *self, IrisWireString *arg)
{
  if (self->index >= self->args.n)
    return FALSE;
  if (self->args.packed == NULL)
    {
      arg->data = self->args.strv[self->index];
      arg->len = strlen (arg->data);
    }
  else
    {
      IrisWireReader reader;
      IrisWireToken token;
      IrisWireCheck check;
      iris_wire_check_init (&check, NULL, "args", NULL);
      iris_wire_reader_init (&reader, self->args.packed + self->offset,
                             self->args.packed_size - self->offset);
      if (!iris_wire_reader_next (&reader, &token, &check)
          || (token.type != IRIS_WIRE_TOKEN_STRING && token.type != IRIS_WIRE_TOKEN_BINARY))
        return FALSE;
      *arg = (IrisWireString){ (const char *) token.bytes.data, token.bytes.size };
      self->offset += iris_wire_reader_offset (&reader);
    }
  self->index++;
  return TRUE;
}

char **
iris_wire_args_dup (const IrisWireArgs *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  char **strv = g_new0 (char *, self->n + 1);
  IrisWireArgsIter iter;
  IrisWireString arg;
  iris_wire_args_iter_init (&iter, self);
  for (guint i = 0; iris_wire_args_iter_next (&iter, &arg); i++)
    strv[i] = iris_wire_string_dup (&arg);
  return strv;
}

void
iris_wire_numbers_read (const IrisWireNumbers *self, guint64 *values)
{
  IrisWireReader reader;
  IrisWireToken token = { 0 };
  IrisWireCheck check;

  g_return_if_fail (self != NULL);
  g_return_if_fail (values != NULL || self->n == 0);

  if (self->packed == NULL)
    {
      if (self->n > 0)
        memcpy (values, self->values, self->n * sizeof *values);
      return;
    }
  iris_wire_check_init (&check, NULL, "numbers", NULL);
  iris_wire_reader_init (&reader, self->packed, self->packed_size);
  for (guint i = 0; i < self->n; i++)
    values[i] = iris_wire_reader_next (&reader, &token, &check) ? token.number : 0;
}
