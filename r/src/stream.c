/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrow streams in external pointers, as nanoarrow has them and the package arrow fills them. */
#include "routines.h"

#include <stdlib.h>

static void stream_finalize(SEXP handle)
{
    struct ArrowArrayStream *stream = R_ExternalPtrAddr(handle);
    if (stream == NULL)
        return;
    R_ClearExternalPtr(handle);
    if (stream->release != NULL)
        stream->release(stream);
    free(stream);
}

SEXP cellar_r_new_stream(void)
{
    SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    SEXP name = PROTECT(Rf_mkString("nanoarrow_array_stream"));
    struct ArrowArrayStream *stream;
    R_RegisterCFinalizerEx(handle, stream_finalize, TRUE);
    stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        Rf_error("not enough memory for a stream");
    R_SetExternalPtrAddr(handle, stream);
    Rf_setAttrib(handle, R_ClassSymbol, name);
    UNPROTECT(2);
    return handle;
}

struct ArrowArrayStream *glue_arrow_stream(SEXP handle)
{
    struct ArrowArrayStream *stream = NULL;
    if (TYPEOF(handle) == EXTPTRSXP && Rf_inherits(handle, "nanoarrow_array_stream"))
        stream = R_ExternalPtrAddr(handle);
    if (stream == NULL || stream->release == NULL)
        Rf_error("this Arrow stream was read before, or saved and loaded: make it again");
    return stream;
}
