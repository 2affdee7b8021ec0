/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What can go wrong with a topology, and with the places it is divided into.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IRIS_PLACE_ERROR:
 *
 * The error domain of topologies and places; its codes are those of [enum@PlaceError].
 */
#define IRIS_PLACE_ERROR (iris_place_error_quark ())

/**
 * IrisPlaceError:
 * @IRIS_PLACE_ERROR_TOPOLOGY: the hardware of this machine could not be read
 * @IRIS_PLACE_ERROR_BAD_SYNTHETIC: a synthetic description does not describe a topology
 * @IRIS_PLACE_ERROR_BAD_XML: a file is not a topology that hwloc has exported
 * @IRIS_PLACE_ERROR_TOO_LARGE: a limit was exceeded; the message names it
 * @IRIS_PLACE_ERROR_UNKNOWN_LEVEL: there is no level of that name
 * @IRIS_PLACE_ERROR_MISSING_LEVEL: the level is known, but this topology has nothing of that kind
 * @IRIS_PLACE_ERROR_BAD_CPU_LIST: a text is not a list of cpus such as `0-3,8`
 * @IRIS_PLACE_ERROR_EMPTY: a cpu set, or the list of them, is empty
 * @IRIS_PLACE_ERROR_OVERLAP: a cpu was named twice
 * @IRIS_PLACE_ERROR_CPU_NOT_USABLE: a cpu does not exist, or this process may not use it
 * @IRIS_PLACE_ERROR_TOO_FEW_WORKERS: fewer workers were asked for than there are places
 * @IRIS_PLACE_ERROR_BIND: the kernel refused to bind a thread
 * @IRIS_PLACE_ERROR_NO_PLACE: it is not known at which place memory lies
 *
 * Error codes of %IRIS_PLACE_ERROR.
 */
typedef enum
{
  IRIS_PLACE_ERROR_TOPOLOGY,
  IRIS_PLACE_ERROR_BAD_SYNTHETIC,
  IRIS_PLACE_ERROR_BAD_XML,
  IRIS_PLACE_ERROR_TOO_LARGE,
  IRIS_PLACE_ERROR_UNKNOWN_LEVEL,
  IRIS_PLACE_ERROR_MISSING_LEVEL,
  IRIS_PLACE_ERROR_BAD_CPU_LIST,
  IRIS_PLACE_ERROR_EMPTY,
  IRIS_PLACE_ERROR_OVERLAP,
  IRIS_PLACE_ERROR_CPU_NOT_USABLE,
  IRIS_PLACE_ERROR_TOO_FEW_WORKERS,
  IRIS_PLACE_ERROR_BIND,
  IRIS_PLACE_ERROR_NO_PLACE,
} IrisPlaceError;

IRIS_AVAILABLE_IN_ALL GQuark iris_place_error_quark (void);

G_END_DECLS
