/* event_callback.c - a callback for sys.monitoring that is a C function: its vectorcall.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "event_callback.h"

#if MONITORING
typedef struct event_callback {
	PyObject head;
	vectorcallfunc handler;
} event_callback;

static PyMemberDef event_callback_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(event_callback, handler), Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot event_callback_slots[] = {
    {Py_tp_members, event_callback_members},
    {Py_tp_call, PyVectorcall_Call},
    {0, NULL},
};
static PyType_Spec event_callback_spec = {"deepclock._EventCallback", sizeof(event_callback), 0,
					  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
					      Py_TPFLAGS_DISALLOW_INSTANTIATION,
					  event_callback_slots};

PyObject *event_callback_new(vectorcallfunc handler)
{
	PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&event_callback_spec);
	event_callback *o = type ? (event_callback *)PyType_GenericAlloc(type, 0) : NULL;

	if (o)
		o->handler = handler;
	Py_XDECREF(type);
	return (PyObject *)o;
}
#endif
