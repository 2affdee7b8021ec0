/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Visibility, availability and deprecation of every public function of libiris-client, from one
 * place.
 *
 * A release adds its own IRIS_CLIENT_VERSION_X_Y, IRIS_CLIENT_AVAILABLE_IN_X_Y and
 * IRIS_CLIENT_DEPRECATED_IN_X_Y here, and a node of the linker's version script.
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
 * IRIS_CLIENT_VERSION_0_1:
 *
 * Release 0.1, for IRIS_CLIENT_VERSION_MIN_REQUIRED and IRIS_CLIENT_VERSION_MAX_ALLOWED.
 */
#define IRIS_CLIENT_VERSION_0_1 (G_ENCODE_VERSION (0, 1))

/**
 * IRIS_CLIENT_VERSION_MIN_REQUIRED:
 *
 * The oldest release that a program supports. Define it before including the header: functions that
 * this release or an earlier one deprecated cause a warning. The newest release if it is not
 * defined.
 */
#ifndef IRIS_CLIENT_VERSION_MIN_REQUIRED
#define IRIS_CLIENT_VERSION_MIN_REQUIRED IRIS_CLIENT_VERSION_0_1
#endif

/**
 * IRIS_CLIENT_VERSION_MAX_ALLOWED:
 *
 * The newest release whose functions a program may use. Define it before including the header:
 * functions of later releases cause a warning. The newest release if it is not defined.
 */
#ifndef IRIS_CLIENT_VERSION_MAX_ALLOWED
#define IRIS_CLIENT_VERSION_MAX_ALLOWED IRIS_CLIENT_VERSION_0_1
#endif

#if IRIS_CLIENT_VERSION_MAX_ALLOWED < IRIS_CLIENT_VERSION_MIN_REQUIRED
#error "IRIS_CLIENT_VERSION_MAX_ALLOWED must not be less than IRIS_CLIENT_VERSION_MIN_REQUIRED"
#endif

/**
 * IRIS_CLIENT_AVAILABLE_IN_ALL:
 *
 * Marks a function that every release of the library has.
 */
#define IRIS_CLIENT_AVAILABLE_IN_ALL IRIS_CLIENT_EXTERN

/**
 * IRIS_CLIENT_AVAILABLE_IN_0_1:
 *
 * Marks a function that came with release 0.1.
 */
#if IRIS_CLIENT_VERSION_MAX_ALLOWED < IRIS_CLIENT_VERSION_0_1
#define IRIS_CLIENT_AVAILABLE_IN_0_1 G_UNAVAILABLE (0, 1) IRIS_CLIENT_EXTERN
#else
#define IRIS_CLIENT_AVAILABLE_IN_0_1 IRIS_CLIENT_EXTERN
#endif

/**
 * IRIS_CLIENT_DEPRECATED_IN_0_1:
 *
 * Marks a function that release 0.1 deprecated.
 */
/**
 * IRIS_CLIENT_DEPRECATED_IN_0_1_FOR:
 * @function: what to use instead
 *
 * The same, with what takes its place.
 */
#if IRIS_CLIENT_VERSION_MIN_REQUIRED >= IRIS_CLIENT_VERSION_0_1
#define IRIS_CLIENT_DEPRECATED_IN_0_1               G_DEPRECATED IRIS_CLIENT_EXTERN
#define IRIS_CLIENT_DEPRECATED_IN_0_1_FOR(function) G_DEPRECATED_FOR (function) IRIS_CLIENT_EXTERN
#else
#define IRIS_CLIENT_DEPRECATED_IN_0_1               IRIS_CLIENT_EXTERN
#define IRIS_CLIENT_DEPRECATED_IN_0_1_FOR(function) IRIS_CLIENT_EXTERN
#endif
