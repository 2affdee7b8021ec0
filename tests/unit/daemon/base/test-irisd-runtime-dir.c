/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The directory of the sockets: one irisd at a time, and no link.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-error.h"
#include "daemon/net/irisd-runtime-dir.h"

#include <check.h>
#include <glib/gstdio.h>
#include <unistd.h>

TEST (a_directory_belongs_to_one_at_a_time)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (base, "d", NULL);
  g_autoptr (GError) error = NULL;
  IrisdRuntimeDir *first = irisd_runtime_dir_open (path, "--dir", FALSE, NULL);
  ck_assert_ptr_nonnull (first);
  ck_assert_ptr_null (irisd_runtime_dir_open (path, "--dir", FALSE, &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_ALREADY_RUNNING));
  g_clear_error (&error);

  g_autofree char *socket = g_build_filename (path, "s", NULL);
  g_autofree char *endpoint = g_strconcat ("ipc://", socket, NULL);
  ck_assert (g_file_set_contents (socket, "", 0, NULL));
  irisd_runtime_dir_add_endpoint (first, endpoint);
  irisd_runtime_dir_add_endpoint (first, "tcp://127.0.0.1:1");
  irisd_runtime_dir_close (first);
  ck_assert (!g_file_test (socket, G_FILE_TEST_EXISTS));

  IrisdRuntimeDir *second = irisd_runtime_dir_open (path, "--dir", FALSE, NULL);
  ck_assert_ptr_nonnull (second);
  irisd_runtime_dir_close (second);
  ck_assert_int_eq (g_rmdir (path), 0);
  ck_assert_int_eq (g_rmdir (base), 0);
}

TEST (a_link_is_no_directory)
{
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (base, "link", NULL);
  ck_assert_int_eq (symlink (base, path), 0);
  g_autoptr (GError) error = NULL;
  ck_assert_ptr_null (irisd_runtime_dir_open (path, "--dir", FALSE, &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_FAILED));
  g_unlink (path);
  g_rmdir (base);
}

TEST_MAIN ("irisd-runtime-dir", NULL, NULL)
