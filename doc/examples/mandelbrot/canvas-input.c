/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The canvas's input: a drag pans, the wheel and a double click zoom where the pointer is, keys
 * move about the middle.
 */
#include "canvas-input.h"

#define WHEEL_FACTOR 0.8 /* for each notch */
#define CLICK_FACTOR 0.5
#define KEY_FACTOR   0.8
#define KEY_SHARE    0.125 /* of the width or height, for each arrow key */

typedef struct
{
  double x, y;       /* of the drag, so far */
  double at_x, at_y; /* of the pointer */
} Pointer;

static void
drag_begin (GtkGestureDrag *drag, double x, double y, Pointer *pointer)
{
  GtkWidget *canvas = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (drag));

  pointer->x = pointer->y = 0;
  gtk_widget_grab_focus (canvas);
  gtk_widget_set_cursor_from_name (canvas, "grabbing");
}

static void
drag_update (GtkGestureDrag *drag, double x, double y, Pointer *pointer)
{
  GtkWidget *canvas = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (drag));

  canvas_pan (MANDELBROT_CANVAS (canvas), x - pointer->x, y - pointer->y);
  pointer->x = x;
  pointer->y = y;
}

static void
drag_end (GtkGestureDrag *drag, double x, double y, Pointer *pointer)
{
  GtkWidget *canvas = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (drag));

  gtk_widget_set_cursor_from_name (canvas, "grab");
}

static void
click_pressed (GtkGestureClick *click, gint n, double x, double y, Pointer *pointer)
{
  GtkWidget *canvas = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (click));

  if (n == 2)
    canvas_zoom (MANDELBROT_CANVAS (canvas), CLICK_FACTOR, x, y);
}

static void
pointer_moved (GtkEventControllerMotion *motion, double x, double y, Pointer *pointer)
{
  pointer->at_x = x;
  pointer->at_y = y;
}

static gboolean
wheel_turned (GtkEventControllerScroll *scroll, double dx, double dy, Pointer *pointer)
{
  GtkWidget *canvas = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (scroll));
  double factor = dy < 0 ? WHEEL_FACTOR : 1 / WHEEL_FACTOR;
  double whole = ABS (dy);

  /* Touchpads scroll in parts of a notch. */
  if (whole < 1)
    factor = 1 + (factor - 1) * whole;
  if (whole > 0)
    canvas_zoom (MANDELBROT_CANVAS (canvas), factor, pointer->at_x, pointer->at_y);

  return GDK_EVENT_STOP;
}

static gboolean
key_pressed (GtkEventControllerKey *key,
             guint keyval,
             guint code,
             GdkModifierType state,
             Pointer *pointer)
{
  GtkWidget *widget = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (key));
  Canvas *canvas = MANDELBROT_CANVAS (widget);
  double dx = gtk_widget_get_width (widget) * KEY_SHARE;
  double dy = gtk_widget_get_height (widget) * KEY_SHARE;

  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK))
    return GDK_EVENT_PROPAGATE;

  switch (keyval)
    {
    case GDK_KEY_Left:
      canvas_pan (canvas, dx, 0);
      break;
    case GDK_KEY_Right:
      canvas_pan (canvas, -dx, 0);
      break;
    case GDK_KEY_Up:
      canvas_pan (canvas, 0, dy);
      break;
    case GDK_KEY_Down:
      canvas_pan (canvas, 0, -dy);
      break;
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      canvas_zoom_middle (canvas, KEY_FACTOR);
      break;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      canvas_zoom_middle (canvas, 1 / KEY_FACTOR);
      break;
    default:
      return GDK_EVENT_PROPAGATE;
    }

  return GDK_EVENT_STOP;
}

void
canvas_input_attach (Canvas *canvas)
{
  GtkEventController *drag = GTK_EVENT_CONTROLLER (gtk_gesture_drag_new ());
  GtkEventController *click = GTK_EVENT_CONTROLLER (gtk_gesture_click_new ());
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll = gtk_event_controller_scroll_new (
      GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkEventController *key = gtk_event_controller_key_new ();
  Pointer *pointer = g_new0 (Pointer, 1);

  g_object_set_data_full (G_OBJECT (canvas), "pointer", pointer, g_free);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin), pointer);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update), pointer);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end), pointer);
  g_signal_connect (click, "pressed", G_CALLBACK (click_pressed), pointer);
  g_signal_connect (motion, "motion", G_CALLBACK (pointer_moved), pointer);
  g_signal_connect (scroll, "scroll", G_CALLBACK (wheel_turned), pointer);
  g_signal_connect (key, "key-pressed", G_CALLBACK (key_pressed), pointer);
  gtk_widget_add_controller (GTK_WIDGET (canvas), drag);
  gtk_widget_add_controller (GTK_WIDGET (canvas), click);
  gtk_widget_add_controller (GTK_WIDGET (canvas), motion);
  gtk_widget_add_controller (GTK_WIDGET (canvas), scroll);
  gtk_widget_add_controller (GTK_WIDGET (canvas), key);
}
