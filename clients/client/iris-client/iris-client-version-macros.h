/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Visibility of every public function of libiris-client, from one place.
 */
#pragma once

#if !defined(IRIS_CLIENT_INSIDE) && !defined(IRIS_CLIENT_COMPILATION)
#error "Only <iris-client/iris-client.h> can be included directly."
#endif

#include <gio/gio.h>

#ifdef IRIS_CLIENT_COMPILATION
#define IRIS_CLIENT_EXTERN __attribute__ ((visibility ("default"))) extern
#else
#define IRIS_CLIENT_EXTERN extern
#endif

/**
 * IRIS_CLIENT_AVAILABLE_IN_ALL:
 *
 * Marks a function that every release of libiris-client has.
 */
#define IRIS_CLIENT_AVAILABLE_IN_ALL IRIS_CLIENT_EXTERN
