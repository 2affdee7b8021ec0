/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a program whose time of day is off by so many seconds; its monotonic clock is unchanged.
 *
 *     shift-clock SECONDS PROGRAM [ARGUMENT]...
 *
 * A shim before the C library does not reach a program that has none, such as nats-server, which is
 * Go, and a time namespace has no time of day. So each question for the time goes through the
 * kernel to a helper: a seccomp filter hands over clock_gettime (CLOCK_REALTIME), and the program
 * is not told of the vDSO, by which it would answer that itself.
 *
 * The program keeps this process, so it is signalled and waited for as ever; the helper is a child
 * of it, which ends with it. Exit status 77: the kernel does not allow it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOT_POSSIBLE 77

/* More than any argument list of a test has. */
#define MOST_WORDS 65536

static void
fail (const char *what)
{
  fprintf (stderr, "shift-clock: %s: %s\n", what, strerror (errno));
  _exit (NOT_POSSIBLE);
}

/* --- in the helper ---------------------------------------------------------------------------- */

/* Where the kernel put argc, argv, the environment and the auxiliary vector. */
static uint64_t
find_stack (pid_t pid)
{
  char path[64], text[4096];
  snprintf (path, sizeof path, "/proc/%d/stat", (int) pid);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, text, sizeof text - 1) : -1;
  if (n <= 0)
    fail (path);
  close (fd);
  text[n] = '\0';
  /* Field 28, where field 2 may have spaces. */
  char *field = strrchr (text, ')');
  for (int number = 2; field != NULL && number < 28; number++)
    field = strchr (field + 1, ' ');
  return field != NULL ? strtoull (field + 1, NULL, 10) : 0;
}

static uint64_t
read_word (int memory, uint64_t address)
{
  uint64_t word = 0;
  if (pread (memory, &word, sizeof word, (off_t) address) != sizeof word)
    fail ("the program's stack");
  return word;
}

/* Just after its exec, before it has run: without this entry it asks the kernel for the time. */
static void
hide_vdso (pid_t pid)
{
  char path[64];
  snprintf (path, sizeof path, "/proc/%d/mem", (int) pid);
  int memory = open (path, O_RDWR | O_CLOEXEC);
  if (memory < 0)
    fail (path);
  uint64_t at = find_stack (pid);
  at += 8 * (read_word (memory, at) + 2); /* argc, argv, and its end */
  for (int n = 0; n < MOST_WORDS && read_word (memory, at) != 0; n++)
    at += 8;
  for (at += 8; read_word (memory, at) != AT_NULL; at += 16)
    if (read_word (memory, at) == AT_SYSINFO_EHDR)
      {
        const uint64_t ignored = AT_IGNORE;
        if (pwrite (memory, &ignored, sizeof ignored, (off_t) at) != sizeof ignored)
          fail ("the program's auxiliary vector");
      }
  close (memory);
}

static void
answer (int listener, const struct seccomp_notif *question, time_t seconds)
{
  struct seccomp_notif_resp reply = { .id = question->id };
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  now.tv_sec += seconds;
  struct iovec from = { &now, sizeof now };
  struct iovec to = { (void *) (uintptr_t) question->data.args[1],
                      sizeof now }; /* NOLINT(performance-no-int-to-ptr) */
  if (process_vm_writev ((pid_t) question->pid, &from, 1, &to, 1, 0) != (ssize_t) sizeof now)
    reply.error = -EFAULT;
  /* It fails if the thread has ended meanwhile. */
  ioctl (listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static int
take_descriptor (int channel)
{
  char byte;
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (int))];
  } control;
  struct iovec data = { &byte, 1 };
  struct msghdr message = {
    .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  int fd = -1;
  if (recvmsg (channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR (&message) != NULL)
    memcpy (&fd, CMSG_DATA (CMSG_FIRSTHDR (&message)), sizeof fd);
  if (fd < 0)
    _exit (NOT_POSSIBLE); /* the program's side has said why */
  return fd;
}

static void
help (pid_t program, int channel, time_t seconds)
{
  int status = 0;
  if (ptrace (PTRACE_SEIZE, program, NULL, (void *) PTRACE_O_TRACEEXEC) != 0)
    fail ("ptrace");
  if (send (channel, "", 1, MSG_NOSIGNAL) != 1)
    fail ("socket");
  int listener = take_descriptor (channel);
  /* Who ends the program's group, as timeout does, means the program. */
  for (const int *number = (const int[]){ SIGHUP, SIGINT, SIGTERM, 0 }; *number != 0; number++)
    signal (*number, SIG_IGN);
  while (waitpid (program, &status, __WALL) == program && WIFSTOPPED (status)
         && status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
    ptrace (PTRACE_CONT, program, NULL,
            (void *) (intptr_t) WSTOPSIG (status)); /* NOLINT(performance-no-int-to-ptr) */
  if (!WIFSTOPPED (status))
    _exit (0); /* it could not be started, and has said so */
  hide_vdso (program);
  ptrace (PTRACE_DETACH, program, NULL, NULL);

  /* The kernel hangs up when the last process with the filter has ended. */
  struct pollfd poll_fd = { listener, POLLIN, 0 };
  while (poll (&poll_fd, 1, -1) > 0 && (poll_fd.revents & POLLIN) != 0)
    {
      struct seccomp_notif question;
      memset (&question, 0, sizeof question);
      if (ioctl (listener, SECCOMP_IOCTL_NOTIF_RECV, &question) == 0)
        answer (listener, &question, seconds);
    }
  _exit (0);
}

/* --- in the program's process ----------------------------------------------------------------- */

static int
install_filter (void)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 3),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, args[0])),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, CLOCK_REALTIME, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = { sizeof code / sizeof *code, code };
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    fail ("no_new_privs");
  return (int) syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &filter);
}

static void
give_descriptor (int channel, int fd)
{
  char byte = 0;
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (int))];
  } control = { .space = { 0 } };
  struct iovec data = { &byte, 1 };
  struct msghdr message = {
    .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  *CMSG_FIRSTHDR (&message) = (struct cmsghdr){ .cmsg_len = CMSG_LEN (sizeof fd),
                                                .cmsg_level = SOL_SOCKET,
                                                .cmsg_type = SCM_RIGHTS };
  memcpy (CMSG_DATA (CMSG_FIRSTHDR (&message)), &fd, sizeof fd);
  if (sendmsg (channel, &message, MSG_NOSIGNAL) != 1)
    fail ("socket");
}

int
main (int argc, char **argv)
{
  int channel[2];
  char byte, *end = NULL;
  const time_t seconds = argc < 3 ? 0 : strtol (argv[1], &end, 10);
  if (argc < 3 || *end != '\0')
    {
      fprintf (stderr, "Usage: shift-clock SECONDS PROGRAM [ARGUMENT]...\n");
      return 2;
    }
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0)
    fail ("socketpair");
  /* The helper is no ancestor of the program. */
  prctl (PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  pid_t program = getpid (), helper = fork ();
  if (helper < 0)
    fail ("fork");
  close (channel[helper == 0 ? 0 : 1]);
  if (helper == 0)
    help (program, channel[1], seconds);
  if (recv (channel[0], &byte, 1, 0) != 1)
    return NOT_POSSIBLE; /* the helper has said why */
  int listener = install_filter ();
  if (listener < 0)
    fail ("seccomp");
  give_descriptor (channel[0], listener);
  close (listener);
  execvp (argv[2], argv + 2);
  fail (argv[2]);
}
