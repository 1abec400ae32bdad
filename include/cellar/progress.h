/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long work reports to its caller how far it is, and asks whether to go on. */
#ifndef CELLAR_PROGRESS_H
#define CELLAR_PROGRESS_H

#ifdef __cplusplus
extern "C" {
#endif

/* `report` is called now and then, from one thread at a time, with the name of the stage and
 * the fraction done (0 to 1, or negative when unknown). It answers 0 to go on; anything else
 * cancels the work, which then fails with CELLAR_ERR_CANCELLED and leaves nothing behind.
 * A zeroed cellar_progress reports nothing. */
typedef struct cellar_progress {
    int (*report)(void *context, const char *stage, double fraction);
    void *context;
} cellar_progress;

#ifdef __cplusplus
}
#endif

#endif
