/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can go wrong with a topology, and with the places it is divided into.
 */
#include <iris/place/topology/iris-place-error.h>

/**
 * iris_place_error_quark:
 *
 * Returns: the domain of the errors of places, whose codes are those of [error@PlaceError]
 */
/* The formatter would put spaces into the name. */
/* clang-format off */
G_DEFINE_QUARK (iris-place-error-quark, iris_place_error)
/* clang-format on */
