/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Visibility and availability of every public function, from one place.
 */
#pragma once

#if !defined(IRIS_INSIDE) && !defined(IRIS_COMPILATION)
#error "Only <iris/iris.h> can be included directly."
#endif

#include <glib.h>

#ifdef IRIS_COMPILATION
#define IRIS_EXTERN __attribute__ ((visibility ("default"))) extern
#else
#define IRIS_EXTERN extern
#endif

/**
 * IRIS_AVAILABLE_IN_ALL:
 *
 * Marks a function that every release of the library has.
 */
#define IRIS_AVAILABLE_IN_ALL IRIS_EXTERN

/**
 * IRIS_AVAILABLE_IN_0_1:
 *
 * Marks a function that came with release 0.1.
 */
#define IRIS_AVAILABLE_IN_0_1 IRIS_EXTERN
