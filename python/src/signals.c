/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals while the library works: Ctrl-C ends it. */
#include "glue.h"

#include <time.h>

/* Python runs handlers on its main thread; threads of the library, which it does not know, are none
 * of its. Ten times a second is enough to ask: another thread may have to let go of Python first.
 */
static int report_progress(void *context, const char *stage, double fraction)
{
    static _Thread_local double asked;
    struct timespec now;
    PyGILState_STATE state;
    int raised;
    (void) context;
    (void) stage;
    (void) fraction;
    if (PyGILState_GetThisThreadState() == NULL || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    if ((double) now.tv_sec + (double) now.tv_nsec / 1e9 < asked + 0.1)
        return 0;
    asked = (double) now.tv_sec + (double) now.tv_nsec / 1e9;
    state = PyGILState_Ensure();
    raised = PyErr_CheckSignals();
    PyGILState_Release(state);
    return raised;
}

cellar_progress glue_progress(void)
{
    return (cellar_progress){report_progress, NULL};
}
