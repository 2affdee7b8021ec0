/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The renderer: the escape-time algorithm, with smooth colours.
 *
 * Nothing is skipped that could be (the cardioid, cycles): a tile inside the set costs a hundred
 * times one outside it, and that imbalance is what a scheduler is shown with.
 */
#include "render.h"

#include <math.h>

#define ESCAPE_SQUARED 256.0
#define N_COLOURS      1024

typedef struct
{
  double offset[3], width[3], phase[3];
} Palette;

/* A cosine for each channel: offset + width * cos (2 pi (t + phase)). */
static const Palette palettes[PICTURE_N_PALETTES] = {
  { { .48, .46, .52 }, { .48, .44, .46 }, { .52, .60, .72 } },
  { { .55, .40, .30 }, { .45, .40, .30 }, { .50, .56, .64 } },
  { { .30, .50, .45 }, { .28, .46, .42 }, { .60, .50, .40 } },
  { { .50, .50, .50 }, { .50, .50, .50 }, { .50, .50, .50 } },
};

static guint32 tables[PICTURE_N_PALETTES][N_COLOURS];

static guint32
pack (double red, double green, double blue)
{
  return 0xff000000U | (guint32) (red * 255.0 + .5) << 16 | (guint32) (green * 255.0 + .5) << 8
         | (guint32) (blue * 255.0 + .5);
}

static gpointer
fill_tables (gpointer data)
{
  for (guint p = 0; p < PICTURE_N_PALETTES; p++)
    for (guint i = 0; i < N_COLOURS; i++)
      {
        double c[3];

        for (guint k = 0; k < 3; k++)
          c[k] = CLAMP (
              palettes[p].offset[k]
                  + palettes[p].width[k]
                        * cos (2 * G_PI * (i / (double) N_COLOURS + palettes[p].phase[k])),
              0, 1);
        tables[p][i] = pack (c[0], c[1], c[2]);
      }

  return tables;
}

/* Returns the smoothed number of iterations until the point escapes, or -1 if it does not. */
static double
escape (double x, double y, guint depth)
{
  double a = 0, b = 0;

  for (guint i = 0; i < depth; i++)
    {
      double aa = a * a, bb = b * b;

      if (aa + bb > ESCAPE_SQUARED)
        return i + 1 - log2 (.5 * log (aa + bb));
      b = 2 * a * b + y;
      a = aa - bb + x;
    }

  return -1;
}

gboolean
render_tile (Tile *tile)
{
  static GOnce filled = G_ONCE_INIT;
  Picture *picture = tile->picture;
  const View *view = &picture->view;
  const guint32 *table;
  g_autofree guint32 *pixels = g_new (guint32, (gsize) tile->width * (gsize) tile->height);
  guint32 *at = pixels;

  g_once (&filled, fill_tables, NULL);
  table = tables[view->palette % PICTURE_N_PALETTES];
  for (gint row = 0; row < tile->height; row++)
    {
      double y = view->y + (tile->y + row + .5 - picture->height / 2.) * view->scale;

      if (picture_is_stale (picture))
        return FALSE;
      for (gint column = 0; column < tile->width; column++)
        {
          double x = view->x + (tile->x + column + .5 - picture->width / 2.) * view->scale;
          double n = escape (x, y, view->depth);

          /* Square roots spread the many colours near the set. */
          *at++ = n < 0 ? 0xff000000U : table[(guint) (sqrt (MAX (n, 0)) * 110.) % N_COLOURS];
        }
    }
  tile->pixels = g_bytes_new_take (pixels, (gsize) ((guint8 *) at - (guint8 *) pixels));
  pixels = NULL;

  return TRUE;
}

void
render_worker_colour (gint worker, guint8 rgb[3])
{
  /* Hues by the golden angle: however many there are, neighbours differ. */
  double hue = fmod (.09 + worker * .61803398875, 1) * 6;
  double light = worker % 2 == 0 ? 1 : .92;

  for (guint k = 0; k < 3; k++)
    {
      double distance = fabs (fmod (hue + 6 - 2. * k, 6));
      double level = CLAMP (fabs (3 - distance) - 1, 0, 1);

      rgb[k] = worker < 0 ? 255 : (guint8) ((.36 + .64 * level) * light * 255);
    }
}
