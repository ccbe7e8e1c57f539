/* png.c - renders SVG to PNG with librsvg and cairo, loaded on first use. The used functions are
 * declared here, so that their headers are not needed: these names are frozen since librsvg 2.46
 * and cairo 1.0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/report.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/sink.h"
#include "os/process/lazy_library.h"
#include "os/os.h"
#include "report/figures/svg.h"
#include <math.h>
#include <string.h>

typedef struct rsvg_handle rsvg_handle;
typedef struct cairo_surface cairo_surface;
typedef struct cairo_context cairo_context;
typedef struct rsvg_rectangle {
	double x, y, width, height;
} rsvg_rectangle;
typedef int (*cairo_write)(void *self, const unsigned char *bytes, unsigned n);
enum { CAIRO_ARGB32 = 0, CAIRO_FINE = 0 };

rsvg_handle *rsvg_handle_new_from_data(const unsigned char *bytes, size_t n, void **error);
int rsvg_handle_render_document(rsvg_handle *h, cairo_context *c, const rsvg_rectangle *r,
				void **error);
cairo_surface *cairo_image_surface_create(int format, int width, int height);
void cairo_surface_destroy(cairo_surface *s);
int cairo_surface_write_to_png_stream(cairo_surface *s, cairo_write write, void *self);
cairo_context *cairo_create(cairo_surface *s);
void cairo_destroy(cairo_context *c);
void g_object_unref(void *object);

#define RSVG_FUNCTIONS(X) X(rsvg_, handle_new_from_data) X(rsvg_, handle_render_document)
#define CAIRO_FUNCTIONS(X)              \
	X(cairo_, image_surface_create) \
	X(cairo_, surface_destroy)      \
	X(cairo_, surface_write_to_png_stream) X(cairo_, create) X(cairo_, destroy)
#define OBJECT_FUNCTIONS(X) X(g_object_, unref)

/* Generous limits: a PNG of 1440 by 800 takes 0.1 MiB. */
#define TIMEOUT_NS  UINT64_C(60000000000)
#define PNG_MAX	    ((size_t)64 << 20)
#define SCALE_LEAST 0.1
#define SCALE_MOST  16.0

#define USE "PNG of figures (Debian: librsvg2-2)"
static struct {
	RSVG_FUNCTIONS(OS_LAZY_MEMBER)
} rsvg;
static struct {
	CAIRO_FUNCTIONS(OS_LAZY_MEMBER)
} cairo;
static struct {
	OBJECT_FUNCTIONS(OS_LAZY_MEMBER)
} object;
static const char *const rsvg_names[] = {RSVG_FUNCTIONS(OS_LAZY_NAME)};
static const char *const cairo_names[] = {CAIRO_FUNCTIONS(OS_LAZY_NAME)};
static const char *const object_names[] = {OBJECT_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library libraries[] = {OS_LAZY("librsvg-2.so.2", USE, rsvg_names, rsvg),
				      OS_LAZY("libcairo.so.2", USE, cairo_names, cairo),
				      OS_LAZY("libgobject-2.0.so.0", USE, object_names, object)};

typedef struct png_drawing {
	const char *text;
	size_t n;
	double scale;
} png_drawing;

static int on_bytes(void *self, const unsigned char *bytes, unsigned n)
{
	sink_put(self, bytes, n);
	return CAIRO_FINE;
}

static dck_status figures_draw(const png_drawing *d, dck_sink *out, dck_err *err)
{
	const int width = (int)lround(SVG_WIDTH * d->scale),
		  height = (int)lround(SVG_HEIGHT * d->scale);
	const rsvg_rectangle all = {0, 0, width, height};

	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
		DCK_TRY(os_lazy_load(&libraries[i], err));
	rsvg_handle *handle = rsvg.handle_new_from_data((const unsigned char *)d->text, d->n, NULL);
	if (!handle)
		DCK_FAIL(err, E_FORMAT, "librsvg does not read the figure");
	cairo_surface *surface = cairo.image_surface_create(CAIRO_ARGB32, width, height);
	cairo_context *context = cairo.create(surface);
	const bool fine = rsvg.handle_render_document(handle, context, &all, NULL) != 0 &&
			  cairo.surface_write_to_png_stream(surface, on_bytes, out) == CAIRO_FINE;
	cairo.destroy(context);
	cairo.surface_destroy(surface);
	object.unref(handle);
	if (!fine)
		DCK_FAIL(err, E_IO, "librsvg cannot draw the figure");
	return DCK_OK;
}

/* Writes the status as a byte, then the image, or the error's text. */
static void draw_there(void *self, dck_sink *to)
{
	dck_buffer png = {0};
	dck_err err = {0};
	dck_sink out;

	dck_sink_buffer(&out, &png);
	dck_status status = figures_draw(self, &out, &err);
	if (dck_sink_finish(&out, status == DCK_OK ? &err : NULL) != DCK_OK && status == DCK_OK)
		status = err.code;
	sink_put(to, &(char){(char)status}, 1);
	if (status == DCK_OK)
		sink_put(to, png.data, png.n);
	else
		sink_text(to, err.msg);
	dck_buffer_done(&png);
}

/* Runs in a child process, because these libraries and the font libraries abort when out of memory.
 */
dck_status dck_figure_png(const char *text, size_t n, double scale, dck_sink *out, dck_err *err)
{
	png_drawing d = {text, n, scale};
	dck_buffer output = {0};
	dck_err why = {0};

	if (!(scale >= SCALE_LEAST && scale <= SCALE_MOST))
		DCK_FAIL(err, E_ARG, "the scale of the image is %s: give %s to %s",
			 DECIMAL_TEXT(6, scale), DECIMAL_TEXT(6, SCALE_LEAST),
			 DECIMAL_TEXT(6, SCALE_MOST));
	dck_status status = os_in_child(draw_there, &d, TIMEOUT_NS, PNG_MAX, &output, &why);

	if (status == DCK_OK && output.n < 2)
		status = ERR_SET(&why, E_IO, "nothing was drawn");
	else if (status == DCK_OK && output.data[0] != DCK_OK)
		status = err_set(&why, (dck_status)output.data[0], __FILE__, __LINE__, "%.400s",
				 output.data + 1);
	if (status == DCK_OK)
		sink_put(out, output.data + 1, output.n - 1);
	else if (err)
		*err = why;
	dck_buffer_done(&output);
	return status;
}
