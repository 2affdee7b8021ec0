/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris-soak: runs the scenarios and prints what they counted.
 */
#include "soak.h"

#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <signal.h>
#include <stdio.h>

static const char usage[] =
    "Usage: iris-soak [--long] [SCENARIO]...\n"
    "Puts irisd under load, does something bad to it, and counts: nothing that was accepted may "
    "be\n"
    "lost. Ends with a table, and with status 1 if a scenario failed.\n\n"
    "  --long  as often as it takes to be believed, about ten minutes; else a few seconds\n"
    "  --help  this text\n\n"
    "Scenarios:\n";

typedef struct
{
  const char *name;
  const char *summary;
  void (*run) (SoakFigures *figures);
} Scenario;

static const Scenario scenarios[] = {
  { "kills", "irisd is killed under load", soak_kills },
  { "clients", "clients are killed under load", soak_clients },
#ifdef SOAK_HAS_CLIENTS
  { "upgrades", "irisd is started anew under four clients", soak_upgrades },
#endif
  { "workers", "worker processes are killed, and one sends garbage", soak_workers },
  { "disk", "the disk is full while it runs and when it starts", soak_disk },
  { "sync", "a sync fails once", soak_sync },
  { "reads", "the journal cannot be read for a while", soak_reads },
  { "clock", "the clock is set back and forth", soak_clock },
  { "schedules", "the clock is set back and forth, and irisd has schedules", soak_schedules },
  { "descriptors", "there are no more descriptors", soak_descriptors },
  { "crowd", "slow, half-open, silent and flooding clients", soak_crowd },
  { "thousand", "a thousand clients connect at once", soak_thousand },
  { "frames", "malformed frames at every socket", soak_frames },
};

#define N_SCENARIOS G_N_ELEMENTS (scenarios)

static SoakFigures figures[N_SCENARIOS];
static gboolean lengthy;
static const char *self_path;
static GRand *chance;
static const char *const *part_args;

/* Returns how often a step is repeated in this run: @in_short times in a short one, @in_long in a
 * long one. */
guint
soak_times (guint in_short, guint in_long)
{
  guint n = lengthy ? in_long : in_short;
  return SANITIZED ? MAX (n / 4, 1) : n;
}

guint
soak_random (guint least, guint most)
{
  return (guint) g_rand_int_range (chance, (gint32) least, (gint32) most + 1);
}

/* Before an irisd ends. */
void
soak_note_peak (SoakFigures *self, Irisd *irisd)
{
  self->peak_kib = MAX (self->peak_kib, irisd_get_peak_rss_kib (irisd));
}

/* Starts a part as a process that can be killed. Returns once it has written its first line. */
GSubprocess *
soak_start_part (const char *part, const char *first, const char *second)
{
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, die_with_test, NULL, NULL);
  g_autoptr (GError) error = NULL;
  GSubprocess *self = g_subprocess_launcher_spawn (launcher, &error, self_path, "--part", part,
                                                   first, second, NULL);
  ck_assert_msg (self != NULL, "%s", error != NULL ? error->message : "");
  /* So that it cannot run far ahead of its reader. */
  GInputStream *output = g_subprocess_get_stdout_pipe (self);
  fcntl (g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (output)), F_SETPIPE_SZ, 4096);
  g_autofree char *line = soak_read_line (self);
  ck_assert_ptr_nonnull (line);
  ck_assert_str_eq (line, "ready");
  return self;
}

/* Returns a whole line of its output, or NULL at the end. */
char *
soak_read_line (GSubprocess *part)
{
  g_autoptr (GString) line = g_string_new (NULL);
  GInputStream *stream = g_subprocess_get_stdout_pipe (part);
  char byte;
  while (g_input_stream_read (stream, &byte, 1, NULL, NULL) == 1)
    if (byte == '\n')
      return g_string_free (g_steal_pointer (&line), FALSE);
    else
      g_string_append_c (line, byte);
  return NULL;
}

void
soak_kill_part (GSubprocess *part)
{
  g_subprocess_send_signal (part, SIGKILL);
  ck_assert (g_subprocess_wait (part, NULL, NULL));
}

static void
check_figures (const SoakFigures *self)
{
  ck_assert_uint_eq (self->accepted, self->ended);
  ck_assert_uint_le (self->duplicates, self->allowed);
}

START_TEST (survives)
{
  SoakFigures *self = &figures[_i];
  gint64 began = g_get_monotonic_time ();
  self->ran = TRUE;
  chance = g_rand_new_with_seed (20260401 + (guint32) _i);
  scenarios[_i].run (self);
  g_rand_free (chance);
  self->seconds = (double) (g_get_monotonic_time () - began) / G_USEC_PER_SEC;
  if (self->skipped == NULL)
    check_figures (self);
  self->well = TRUE;
}
END_TEST

static void
print_table (void)
{
  const char *mark = g_getenv ("CK_TAP_LOG_FILE_NAME") != NULL ? "# " : "";
  printf ("%s%-12s %8s %10s %10s %6s %11s %9s  %s\n", mark, "scenario", "seconds", "accepted",
          "ended", "lost", "duplicates", "peak MiB", "verdict");
  for (guint i = 0; i < N_SCENARIOS; i++)
    {
      const SoakFigures *self = &figures[i];
      if (!self->ran)
        continue;
      printf ("%s%-12s %8.1f %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT " %6" G_GINT64_FORMAT
              " %4" G_GUINT64_FORMAT " of %3" G_GUINT64_FORMAT " %9.1f  %s%s%s\n",
              mark, scenarios[i].name, self->seconds, self->accepted, self->ended,
              (gint64) (self->accepted - self->ended), self->duplicates, self->allowed,
              (double) self->peak_kib / 1024,
              !self->well             ? "FAILED"
              : self->skipped != NULL ? "skipped: "
                                      : "well",
              self->skipped != NULL ? self->skipped : "; ",
              self->skipped != NULL ? "" : self->note);
    }
}

static int
run_scenarios (const char *const *names)
{
  Suite *suite = suite_create ("iris-soak");
  for (guint i = 0; i < N_SCENARIOS; i++)
    {
      if (names[0] != NULL && !g_strv_contains (names, scenarios[i].name))
        continue;
      TCase *tcase = tcase_create (scenarios[i].name);
      tcase_set_timeout (tcase, 0);
      tcase_add_loop_test (tcase, survives, (int) i, (int) i + 1);
      suite_add_tcase (suite, tcase);
    }
  int status = core_test_run (suite);
  print_table ();
  return status;
}

START_TEST (part)
{
  if (strcmp (part_args[0], "client") == 0)
    soak_be_client (part_args[1]);
  else if (strcmp (part_args[0], "worker") == 0)
    soak_be_worker (part_args[1], part_args[2]);
  else if (strcmp (part_args[0], "garbage") == 0)
    soak_be_garbage (part_args[1], part_args[2]);
}
END_TEST

/* The helpers need Check around them. */
static int
run_part (const char *const *args)
{
  part_args = args;
  chance = g_rand_new ();
  g_unsetenv ("CK_TAP_LOG_FILE_NAME");
  g_unsetenv ("CK_RUN_CASE");
  Suite *suite = suite_create ("part");
  TCase *tcase = tcase_create ("part");
  tcase_set_timeout (tcase, 0);
  tcase_add_test (tcase, part);
  suite_add_tcase (suite, tcase);
  SRunner *runner = srunner_create (suite);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_SILENT);
  return srunner_ntests_failed (runner);
}

static gboolean
is_scenario (const char *name)
{
  for (guint i = 0; i < N_SCENARIOS; i++)
    if (strcmp (scenarios[i].name, name) == 0)
      return TRUE;
  return FALSE;
}

int
main (int argc, char **argv)
{
  self_path = "/proc/self/exe";
  if (argc > 3 && strcmp (argv[1], "--part") == 0)
    return run_part ((const char *const *) argv + 2);
  if (argc > 1 && strcmp (argv[1], "--help") == 0)
    {
      fputs (usage, stdout);
      for (guint i = 0; i < N_SCENARIOS; i++)
        printf ("  %-12s %s\n", scenarios[i].name, scenarios[i].summary);
      return EXIT_SUCCESS;
    }
  const char *const *names = (const char *const *) argv + 1;
  if (argc > 1 && strcmp (argv[1], "--long") == 0)
    {
      lengthy = TRUE;
      names++;
    }
  for (guint i = 0; names[i] != NULL; i++)
    if (!is_scenario (names[i]))
      {
        fprintf (stderr, "iris-soak: there is no scenario “%s”; see --help\n", names[i]);
        return 2;
      }
  g_setenv ("IRISD", SOAK_IRISD, FALSE);
  return run_scenarios (names);
}
