/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can go wrong with a topology, and with the places it is divided into.
 */
#include <iris/place/iris-place-error.h>

G_DEFINE_QUARK (iris - place - error - quark, iris_place_error)
