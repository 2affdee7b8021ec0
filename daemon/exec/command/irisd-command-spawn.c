/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Starts the program of a command.
 *
 * posix_spawn() cannot set limits, niceness, cpus and the signal that ends a process with its
 * parent, and fork() copies the page tables of a daemon that may hold gigabytes of items. So the
 * child is made the way posix_spawn() makes it (clone(2) with CLONE_VM and CLONE_VFORK): it shares
 * irisd's memory, on a stack of its own, while the calling thread waits until the child executes
 * the program or fails. Hence the rules for set_up_child(): it calls nothing but system calls,
 * allocates nothing, takes no lock, and writes only to its own stack and to the report. All signals
 * are blocked around it, so that no handler of irisd's runs in the child.
 *
 * Sanitizers record their state in the memory that would be shared, so under them the child gets a
 * copy of it, and only the report is shared.
 *
 * The signal that ends the child with its parent comes when the *thread* that made it ends. That is
 * a worker, and workers end after all items have.
 */
#include "daemon/exec/command/irisd-command-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#ifndef P_PIDFD
#define P_PIDFD 3
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHARE_MEMORY 0
#endif
#endif
#ifndef SHARE_MEMORY
#define SHARE_MEMORY CLONE_VM
#endif

#define UNWATCHED __attribute__ ((no_sanitize ("address", "thread")))

/* Enough for execvpe(), which builds file names and, of a script, the arguments on the stack. */
#define STACK_SIZE (64 * 1024)

/* Bytes of /proc/PID/stat, of which 22 fields are read, up to the time of start. */
#define STAT_SIZE 440

/* As in the kernel's headers, which are not always installed. */
#define MEMORY_LOCAL  4
#define CLOSE_AT_EXEC (1u << 2)

/* Written by the child, read by the caller afterwards; the system call orders the two. */
typedef struct
{
  _Atomic int step;
  _Atomic int error;
  _Atomic guint limit;
} Report;

typedef struct
{
  const IrisdSpawnPlan *plan;
  Report *report;
  pid_t parent;
} Child;

static UNWATCHED int
give_up (Child *child, IrisdSpawnStep step)
{
  atomic_store_explicit (&child->report->error, errno, memory_order_relaxed);
  atomic_store_explicit (&child->report->step, step, memory_order_relaxed);
  _exit (127);
}

/* Records the process for the irisd that starts after a crash, which reads a number and a time of
 * start from this. Without /proc nothing is recorded, and nothing could be found later. */
static UNWATCHED void
record_process (const IrisdSpawnPlan *plan)
{
  char stat[STAT_SIZE + 1];
  if (plan->record_fd < 0)
    return;
  int fd = (int) syscall (SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY);
  long n = fd >= 0 ? syscall (SYS_read, fd, stat, STAT_SIZE) : 0;
  if (fd >= 0)
    syscall (SYS_close, fd);
  if (n <= 0)
    return;
  stat[n] = '\0';
  syscall (SYS_pwrite64, plan->record_fd, stat, n + 1, plan->record_at);
}

static UNWATCHED void
set_up_files (Child *child)
{
  /* All are above 2: irisd has its own descriptors 0 to 2. dup2() clears close-on-exec. */
  for (int i = 0; i < 3; i++)
    if (syscall (SYS_dup3, child->plan->fds[i], i, 0) < 0)
      give_up (child, IRISD_SPAWN_PROCESS);

      /* irisd's own are close-on-exec; those that it inherited are not. */
#ifdef SYS_close_range
  syscall (SYS_close_range, 3, ~0u, CLOSE_AT_EXEC);
#endif
}

static UNWATCHED void
set_up_limits (Child *child)
{
  const IrisdCommandOptions *options = child->plan->options;
  if (child->plan->file_limit != NULL)
    syscall (SYS_prlimit64, 0, RLIMIT_NOFILE, child->plan->file_limit, NULL);
  if (options == NULL)
    return;
  for (guint i = 0; i < options->n_limits; i++)
    {
      const IrisdCommandLimit *limit = &options->limits[i];
      atomic_store_explicit (&child->report->limit, i, memory_order_relaxed);
      if (syscall (SYS_prlimit64, 0, limit->resource, &limit->bounds, NULL) < 0)
        give_up (child, IRISD_SPAWN_LIMIT);
    }
  if (options->nice > 0
      && syscall (SYS_setpriority, PRIO_PROCESS, 0, getpriority (PRIO_PROCESS, 0) + options->nice)
             < 0)
    give_up (child, IRISD_SPAWN_NICE);
}

static UNWATCHED int
set_up_child (void *data)
{
  Child *child = data;
  const IrisdSpawnPlan *plan = child->plan;
  syscall (SYS_setpgid, 0, 0);
  if (plan->cgroup_fd >= 0)
    syscall (SYS_write, plan->cgroup_fd, "0", 1);
  record_process (plan);
  set_up_files (child);

  /* If irisd is killed, the kernel kills its commands. The parent may have ended already. The
   * record shows the processes that the commands have started. */
  syscall (SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (syscall (SYS_getppid) != child->parent)
    _exit (127);

  /* The command does not inherit the worker's memory policy: its pages come from nodes near the cpu
   * that first touches them, which is one of the place's. */
  if (plan->cpus != NULL)
    syscall (SYS_sched_setaffinity, 0, sizeof *plan->cpus, plan->cpus);
#ifdef SYS_set_mempolicy
  syscall (SYS_set_mempolicy, MEMORY_LOCAL, NULL, 0);
#endif
  if (plan->options != NULL && plan->options->directory != NULL
      && syscall (SYS_chdir, plan->options->directory) < 0)
    give_up (child, IRISD_SPAWN_DIRECTORY);
  set_up_limits (child);

  /* irisd ignores SIGPIPE and blocks the signals that end it; a program must not inherit that. */
  struct sigaction plain = { .sa_handler = SIG_DFL };
  sigaction (SIGPIPE, &plain, NULL);
  sigset_t none;
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  execvpe (plan->argv[0], (char *const *) plan->argv,
           plan->environment != NULL ? plan->environment : environ);
  return give_up (child, IRISD_SPAWN_PROGRAM);
}

#if !SHARE_MEMORY
/* It has a page to itself. A length that is none stays in the shadow memory of ThreadSanitizer,
 * which then takes the next thread's use of the address for a race. */
static gsize
get_report_size (void)
{
  return (gsize) sysconf (_SC_PAGESIZE);
}
#endif

static Report *
report_new (void)
{
#if SHARE_MEMORY
  return g_new0 (Report, 1);
#else
  Report *report = mmap (NULL, get_report_size (), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (report == MAP_FAILED)
    g_error ("cannot start a process: out of memory");
  return report;
#endif
}

static void
report_free (Report *report)
{
#if SHARE_MEMORY
  g_free (report);
#else
  munmap (report, get_report_size ());
#endif
}

/* Reaps the child of @pidfd, which has ended; its number is free from then on. @exit_status is -1
 * if it was killed, @signal_number 0 if it exited. Returns whether there was one. */
gboolean
irisd_command_reap (int pidfd, int *exit_status, int *signal_number)
{
  siginfo_t info = { 0 };
  int rc;
  do
    rc = waitid ((idtype_t) P_PIDFD, (id_t) pidfd, &info, WEXITED);
  while (rc < 0 && errno == EINTR);
  *exit_status = rc == 0 && info.si_code == CLD_EXITED ? info.si_status : -1;
  *signal_number = rc == 0 && info.si_code != CLD_EXITED ? info.si_status : 0;
  return rc == 0;
}

/* Starts a program as the leader of a process group of its own, and returns once it runs. Any
 * thread may call this. Returns whether it runs. */
gboolean
irisd_command_spawn (const IrisdSpawnPlan *plan, IrisdSpawned *spawned)
{
  Child child = { .plan = plan, .report = report_new (), .parent = getpid () };
  gsize size = STACK_SIZE + 2 * sizeof (char *) * g_strv_length ((char **) plan->argv);
  size = (size + 15) & ~(gsize) 15;
  guint8 *stack = g_malloc (size);

  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  *spawned = (IrisdSpawned){ .pidfd = -1 };
  spawned->pid = clone (set_up_child, stack + size,
                        SHARE_MEMORY | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child,
                        &spawned->pidfd);
  int error = errno;
  pthread_sigmask (SIG_SETMASK, &before, NULL);

  if (spawned->pid < 0)
    {
      spawned->step = IRISD_SPAWN_PROCESS;
      spawned->error = error;
    }
  else if (atomic_load_explicit (&child.report->step, memory_order_relaxed) != IRISD_SPAWN_DONE)
    {
      int ignored;
      spawned->step = (IrisdSpawnStep) atomic_load_explicit (&child.report->step,
                                                             memory_order_relaxed);
      spawned->error = atomic_load_explicit (&child.report->error, memory_order_relaxed);
      spawned->limit = atomic_load_explicit (&child.report->limit, memory_order_relaxed);
      irisd_command_reap (spawned->pidfd, &ignored, &ignored);
      close (spawned->pidfd);
      spawned->pidfd = -1;
    }
  g_free (stack);
  report_free (child.report);
  return spawned->step == IRISD_SPAWN_DONE;
}
