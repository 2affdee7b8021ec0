/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * RayTracer: 64 spheres in a cube of 4 x 4 x 4, five lights, 150 x 150 (B: 500 x 500) pixels; at
 * each hit a ray is reflected and another transmitted, down to a depth of six. A tile is a few
 * rows.
 *
 * The sum of all colours is published. It depends on an oddity of the suite, which is kept: all
 * depths share one ray, so a transmitted ray starts where the reflected one before it ended.
 */
#include "tests/bench/workloads/grande/bench-grande.h"

#include <math.h>
#include <string.h>

#define EDGE      4 /* spheres along an edge of the cube */
#define N_SPHERES (EDGE * EDGE * EDGE)
#define N_LIGHTS  5
#define RADIUS    3.0
#define SHINE     15.0
#define REFLECTED 0.5
#define PASSED    0.5
#define DEPTH     6
#define NEAR      1e-6
#define MAX_COLOR 255

typedef struct
{
  gdouble x, y, z;
} Vector;

typedef struct
{
  Vector center, color;
} Sphere;

typedef struct
{
  guint width;
  guint parts;
  Sphere spheres[N_SPHERES];
  Vector lights[N_LIGHTS];
  Vector eye, forward, up, left;
  guint8 *pixels; /* of three colours */
} Ray;

typedef struct
{
  const Ray *scene;
  Vector from, along; /* the ray */
  const Sphere *hit;
  gdouble distance; /* to it */
} Tracer;

static inline Vector
combine (gdouble a, Vector v, gdouble b, Vector w)
{
  return (Vector){ a * v.x + b * w.x, a * v.y + b * w.y, a * v.z + b * w.z };
}

static inline gdouble
dot (Vector v, Vector w)
{
  return v.x * w.x + v.y * w.y + v.z * w.z;
}

static inline Vector
minus (Vector v, Vector w)
{
  return (Vector){ v.x - w.x, v.y - w.y, v.z - w.z };
}

static inline Vector
cross (Vector v, Vector w)
{
  return (Vector){ v.y * w.z - v.z * w.y, v.z * w.x - v.x * w.z, v.x * w.y - v.y * w.x };
}

static inline Vector
scale (gdouble a, Vector v)
{
  return (Vector){ a * v.x, a * v.y, a * v.z };
}

static inline Vector
plus (Vector v, gdouble a, Vector w)
{
  return (Vector){ v.x + a * w.x, v.y + a * w.y, v.z + a * w.z };
}

static inline Vector
unit (Vector v)
{
  gdouble length = sqrt (dot (v, v));

  return length > 0 ? (Vector){ v.x / length, v.y / length, v.z / length } : v;
}

/* Finds the nearest sphere that the ray meets; all lights are farther than that. */
static gboolean
meet (Tracer *self)
{
  gdouble nearest = 1e9;

  self->hit = NULL;
  for (guint i = 0; i < N_SPHERES; i++)
    {
      const Sphere *sphere = &self->scene->spheres[i];
      Vector to = minus (sphere->center, self->from);
      gdouble middle = dot (to, self->along);
      gdouble square = middle * middle - dot (to, to) + RADIUS * RADIUS, half, distance;

      if (square < 0)
        continue;
      half = sqrt (square);
      distance = middle - half < NEAR ? middle + half : middle - half;
      if (distance >= NEAR && distance < nearest)
        {
          nearest = distance;
          self->hit = sphere;
        }
    }
  self->distance = nearest;

  return self->hit != NULL;
}

static Vector
reflect (Vector along, Vector normal)
{
  return unit (combine (1 / fabs (dot (along, normal)), along, 2, normal));
}

/* All is of the same density, so nothing is bent; the arithmetic stays. */
static Vector
transmit (Vector along, Vector normal)
{
  gdouble cosine = -dot (along, normal);
  gdouble square = 1 - (1 - cosine * cosine);

  return unit (combine (1, along, cosine - sqrt (square), normal));
}

static Vector
lit (Tracer *self, const Sphere *sphere, Vector point, Vector normal, Vector mirrored)
{
  Vector color = { 0, 0, 0 };

  for (guint i = 0; i < N_LIGHTS; i++)
    {
      Vector to = minus (self->scene->lights[i], point);
      gdouble gleam;

      if (dot (normal, to) < 0)
        continue;
      self->from = point;
      self->along = to = unit (to);
      if (meet (self))
        continue;
      color = plus (color, dot (normal, to), sphere->color);
      gleam = dot (mirrored, to);
      if (gleam > NEAR)
        {
          gleam = pow (gleam, SHINE);
          color = (Vector){ color.x + gleam, color.y + gleam, color.z + gleam };
        }
    }

  return color;
}

static Vector
trace (Tracer *self, guint depth)
{
  const Sphere *sphere;
  Vector point, normal, along = self->along, color;

  if (depth > DEPTH || !meet (self))
    return (Vector){ 0, 0, 0 };
  sphere = self->hit;
  point = plus (self->from, self->distance, along);
  normal = unit (minus (point, sphere->center));
  if (dot (along, normal) >= 0)
    normal = scale (-1, normal);
  color = lit (self, sphere, point, normal, reflect (along, normal));
  self->from = point;
  self->along = reflect (along, normal);
  color = plus (color, REFLECTED, trace (self, depth + 1));
  self->along = transmit (along, normal);

  return plus (color, PASSED, trace (self, depth + 1));
}

static guint8
level (gdouble color)
{
  return (guint8) CLAMP ((gint) (color * MAX_COLOR), 0, MAX_COLOR);
}

static void
raytracer_tile (gpointer problem, guint phase, guint tile)
{
  const Ray *self = problem;
  guint end = bench_grande_first (self->width, tile + 1, self->parts);

  for (guint y = bench_grande_first (self->width, tile, self->parts); y < end; y++)
    for (guint x = 0; x < self->width; x++)
      {
        guint8 *pixel = self->pixels + 3 * ((gsize) y * self->width + x);
        gdouble down = 2.0 * y / self->width - 1, across = 2.0 * x / self->width - 1;
        Tracer tracer = { .scene = self, .from = self->eye };
        Vector color;

        tracer.along = unit (plus (combine (across, self->left, down, self->up), 1, self->forward));
        color = trace (&tracer, 0);
        pixel[0] = level (color.x);
        pixel[1] = level (color.y);
        pixel[2] = level (color.z);
      }
}

static void
place_spheres (Ray *self)
{
  for (guint i = 0; i < N_SPHERES; i++)
    {
      guint x = i / (EDGE * EDGE), y = i / EDGE % EDGE, z = i % EDGE;

      self->spheres[i].center = (Vector){ 20.0 / (EDGE - 1) * x - 10, 20.0 / (EDGE - 1) * y - 10,
                                          20.0 / (EDGE - 1) * z - 10 };
      self->spheres[i].color = (Vector){ 0, 0, (x + y) / (gdouble) (2 * EDGE - 2) };
    }
}

static gpointer
raytracer_create (const BenchGrandeSize *size)
{
  static const Vector lights[N_LIGHTS] = {
    { 100, 100, -50 }, { -100, 100, -50 }, { 100, -100, -50 }, { -100, -100, -50 }, { 200, 200, 0 }
  };
  const Vector at = { 0, 0, 0 }, upright = { 0, 1, 0 };
  gdouble half = tan (35.0 * 3.14159265 / 180.0);
  Ray *self = g_new0 (Ray, 1);

  self->width = bench_grande_scale (size, 150, 500, 32);
  self->parts = MIN (size->parts, self->width);
  self->pixels = g_new (guint8, 3 * (gsize) self->width * self->width);
  place_spheres (self);
  for (guint i = 0; i < N_LIGHTS; i++)
    self->lights[i] = lights[i];
  self->eye = (Vector){ 0, 20, -30 };
  self->forward = unit (minus (at, self->eye));
  self->up = scale (-half,
                    unit (minus (upright, scale (dot (upright, self->forward), self->forward))));
  self->left = scale (half, unit (cross (upright, self->forward)));

  return self;
}

static void
raytracer_restart (gpointer problem)
{
  Ray *self = problem;

  /* White, which no pixel becomes: one that is left out shows, also where the picture is black. */
  memset (self->pixels, 0xff, 3 * (gsize) self->width * self->width);
}

static guint
raytracer_n_phases (gpointer problem)
{
  return 1;
}

static guint
raytracer_n_tiles (gpointer problem, guint phase)
{
  const Ray *self = problem;

  return self->parts;
}

static gconstpointer
raytracer_result (gpointer problem, gsize *size)
{
  const Ray *self = problem;

  *size = 3 * (gsize) self->width * self->width;

  return self->pixels;
}

/* A picture of another size is about as bright: the two that are published differ by 0.3 %. */
static gboolean
raytracer_check (gpointer problem, GError **error)
{
  static const BenchGrandeValue published[] = { { 150, 2676692 }, { 500, 29827635 } };
  const Ray *self = problem;
  gsize n = 3 * (gsize) self->width * self->width;
  gdouble sum = 0, expected;

  for (gsize i = 0; i < n; i++)
    sum += self->pixels[i];
  if (bench_grande_published (published, G_N_ELEMENTS (published), self->width, &expected))
    return bench_grande_expect ("the sum of all colours", sum, expected, 0, error);

  return bench_grande_expect ("a pixel's mean sum of colours", sum / n * 3, 119, 3, error);
}

static void
raytracer_free (gpointer problem)
{
  Ray *self = problem;

  g_free (self->pixels);
  g_free (self);
}

const BenchGrandeKernel bench_grande_raytracer = {
  .name = "raytracer",
  .create = raytracer_create,
  .free = raytracer_free,
  .restart = raytracer_restart,
  .n_phases = raytracer_n_phases,
  .n_tiles = raytracer_n_tiles,
  .tile = raytracer_tile,
  .result = raytracer_result,
  .check = raytracer_check,
};
