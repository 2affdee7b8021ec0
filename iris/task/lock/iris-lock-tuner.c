/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tuner's slow half. How it works: iris-lock-tuner-private.h.
 */
#include "iris/task/lock/iris-lock-tuner-private.h"

static void
begin_trial (IrisLockTuner *self, unsigned trial)
{
  self->trial = trial;
  self->way = trial % 2 == 0 ? self->better : (IrisLockWay) !self->better;
  self->left = self->wakes ? IRIS_LOCK_TRIAL_WAKE_UPS : IRIS_LOCK_TRIAL_LENGTH;
  self->elapsed = 0;
  self->running = false;
}

static void
begin_round (IrisLockTuner *self)
{
  self->trying = true;
  begin_trial (self, 0);
}

void
iris_lock_tuner_init (IrisLockTuner *self, bool wakes)
{
  /* Moving threads is for those whom it pays. */
  IrisLockWay first = wakes ? IRIS_LOCK_WAY_PLAIN : IRIS_LOCK_WAY_HOT;

  *self = (IrisLockTuner){ .better = first, .wakes = wakes };
  atomic_init (&self->choice, first);
  begin_round (self);
}

static int64_t
median (const int64_t *samples, unsigned n)
{
  int64_t sorted[IRIS_LOCK_TRIALS];

  for (unsigned i = 0; i < n; i++)
    {
      unsigned at = i;

      for (; at > 0 && sorted[at - 1] > samples[i]; at--)
        sorted[at] = sorted[at - 1];
      sorted[at] = samples[i];
    }

  return sorted[n / 2];
}

/* How much shorter the trials would have been the better way. */
static int64_t
loss_of (const IrisLockTuner *self, unsigned n)
{
  const int64_t *better = self->samples[self->better], *other = self->samples[!self->better];
  double loss = 0;

  for (unsigned i = 0; i < n; i++)
    if (other[i] > 0)
      loss += (double) self->spent[!self->better][i] * (double) (other[i] - better[i])
              / (double) other[i];

  return (int64_t) loss;
}

static void
end_round (IrisLockTuner *self, unsigned n, int64_t now)
{
  IrisLockWay other = (IrisLockWay) !self->better;
  int64_t kept = median (self->samples[self->better], n);
  int64_t tried = median (self->samples[other], n);
  int64_t loss, settled = IRIS_LOCK_SETTLED_NS;
  bool would_move = self->wakes && other == IRIS_LOCK_WAY_HOT;

  atomic_store_explicit (&self->ns[self->better], (uint64_t) kept / IRIS_LOCK_TRIAL_LENGTH,
                         memory_order_relaxed);
  atomic_store_explicit (&self->ns[other], (uint64_t) tried / IRIS_LOCK_TRIAL_LENGTH,
                         memory_order_relaxed);
  iris_counter_add (&self->rounds, 1);
  if (tried < kept - kept / (would_move ? IRIS_LOCK_MARGIN_TO_MOVE : IRIS_LOCK_MARGIN))
    {
      self->better = other;
      atomic_store_explicit (&self->choice, other, memory_order_relaxed);
      iris_counter_add (&self->switches, 1);
    }

  loss = loss_of (self, n);
  if (loss > settled / IRIS_LOCK_SHARE)
    settled = loss * IRIS_LOCK_SHARE;
  self->until = now + settled;
  self->way = self->better;
  self->left = self->wakes ? IRIS_LOCK_TRIAL_WAKE_UPS : IRIS_LOCK_GLANCE;
  self->trying = false;
  self->running = false;
}

/* Whether two trials of each have said enough. */
static bool
is_clear (const IrisLockTuner *self)
{
  const int64_t *a = self->samples[0], *b = self->samples[1];

  return (a[0] / 2 >= b[0] && a[0] / 2 >= b[1] && a[1] / 2 >= b[0] && a[1] / 2 >= b[1])
         || (b[0] / 2 >= a[0] && b[0] / 2 >= a[1] && b[1] / 2 >= a[0] && b[1] / 2 >= a[1]);
}

static void
end_trial (IrisLockTuner *self, int64_t now, uint64_t held)
{
  unsigned pair = self->trial / 2;

  self->spent[self->way][pair] = self->elapsed;
  self->samples[self->way][pair] = self->elapsed;
  if (self->wakes)
    self->samples[self->way][pair] = self->elapsed * IRIS_LOCK_TRIAL_LENGTH
                                     / (int64_t) (held - self->held);
  if (self->trial == 2 * IRIS_LOCK_TRIALS - 1 || (self->trial == 3 && is_clear (self)))
    end_round (self, pair + 1, now);
  else
    begin_trial (self, self->trial + 1);
}

/* A trial, a glance or a pause of the clock is at its end. */
void
iris_lock_tuner_turn (IrisLockTuner *self, IrisLockClock clock, uint64_t held)
{
  int64_t now = clock ();

  if (self->trying && self->running)
    {
      if (self->wakes && (now - self->began < IRIS_LOCK_TRIAL_NS || held == self->held))
        {
          self->left = IRIS_LOCK_TRIAL_WAKE_UPS;
          return;
        }
      self->elapsed += now - self->began;
      end_trial (self, now, held);
    }
  else if (!self->trying)
    {
      if (now >= self->until)
        begin_round (self);
      else
        self->left = self->wakes ? IRIS_LOCK_TRIAL_WAKE_UPS : IRIS_LOCK_GLANCE;
    }
  if (self->trying)
    {
      self->running = true;
      self->began = now;
      self->held = held;
    }
}

/* The lock is let go: what was begun by the last hand-over is over. */
void
iris_lock_tuner_stop (IrisLockTuner *self, IrisLockClock clock)
{
  int64_t now = clock ();

  self->elapsed += now - self->began;
  self->running = false;
  if (self->left == 0)
    end_trial (self, now, 0);
}
