/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charged releases: one call charges a ledger, draws a release and writes it. The certificate of
 * the release is its price: what the ledger is charged is what the release states about itself. */
#ifndef CELLAR_CHARGED_H
#define CELLAR_CHARGED_H

#include <cellar/certificate.h>
#include <cellar/export.h>
#include <cellar/ledger.h>
#include <cellar/release.h>
#include <cellar/release_file.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table that passed every check, with the certificate of its release: what is left is to draw. */
typedef struct cellar_prepared cellar_prepared;

/* ---- life cycle ------------------------------------------------------------ */

/* Does all of cellar_release_protect() that can be refused, and draws nothing. The arguments and
 * what they point to stay the caller's and outlive *out, which is NULL on failure. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_protect_prepare(
    const cellar_table *table, const cellar_mechanism *mechanism,
    const cellar_protect_options *options, cellar_prepared **out, cellar_error *err);
/* The same of cellar_release_protect_dirichlet(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_protect_prepare_dirichlet(
    const cellar_table *table, const char *spec, const cellar_protect_options *options,
    cellar_prepared **out, cellar_error *err);
/* The same of cellar_release_protect_cell_keys(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_protect_prepare_cell_keys(
    const cellar_table *table, const char *spec, const cellar_protect_options *options,
    cellar_prepared **out, cellar_error *err);
CELLAR_API void cellar_prepared_free(cellar_prepared *prepared); /* NULL is fine */

/* ---- queries --------------------------------------------------------------- */

/* The canonical spec of the mechanism. */
CELLAR_API const char *cellar_prepared_mechanism(const cellar_prepared *prepared) CELLAR_NONNULL(1);
/* The guarantee of the release. NULL when none could be computed: the release says so, and cannot
 * be charged. */
CELLAR_API const cellar_certificate *cellar_prepared_certificate(const cellar_prepared *prepared)
    CELLAR_NONNULL(1);
/* 1 when the release shows the table's own total exactly (multinomial-dirichlet). */
CELLAR_API int cellar_prepared_shows_total(const cellar_prepared *prepared) CELLAR_NONNULL(1);
/* What to expect, as cellar_protect_forecast() reports it. Confidential. There is one
 * for cells that are drawn each by itself (else CELLAR_ERR_ARGUMENT). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_prepared_forecast(const cellar_prepared *prepared,
                                                                   cellar_forecast *out,
                                                                   cellar_error *err)
    CELLAR_NONNULL(1);

/* ---- actions --------------------------------------------------------------- */

/* Draws without a charge, as often as it is called. `stamp` is what the release says about its
 * charge (NULL: what the options say). On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_prepared_draw(cellar_prepared *prepared,
                                                               const char *stamp,
                                                               cellar_release **out,
                                                               cellar_error *err) CELLAR_NONNULL(1);

/* Who pays. Strings stay the caller's. Start from cellar_payment_default(). */
typedef struct cellar_payment {
    const char *dataset; /* required */
    const char *request; /* required: the id of this release in the ledger */
    const char *edition; /* [NULL: the first one of the dataset] */
    const char *analyst; /* required when the dataset is shared out among analysts [NULL: none] */
    int accept_delta;    /* 1: a delta of one over the population or more is meant */
} cellar_payment;

/* No dataset and no request yet. */
CELLAR_API cellar_payment cellar_payment_default(void);

/* Where a charged release appears. Start from cellar_charged_file_default(). */
typedef struct cellar_charged_file {
    const char *path;                 /* required: a file, never standard output */
    cellar_table_write_options write; /* the format is that of the path's ending unless given */
    int replace;                      /* 1: existing files are replaced */
} cellar_charged_file;

/* No path yet; CSV unless the path ends otherwise. */
CELLAR_API cellar_charged_file cellar_charged_file_default(void);

/* Charges the ledger with the certificate of the release, draws, writes, and lets the files appear.
 * The price is its pure epsilon, or else its epsilon at the delta of the options, and its rho. The
 * ledger records the data, the options, the mechanism and the file of the request. The same request
 * asked again is finished or found, never charged or drawn again: `result` says which, and *out is
 * then NULL, for the recorded output stands. A request that is known for anything else is refused.
 *
 * Refuses before anything is charged: what the format cannot hold (CELLAR_ERR_RULE), a simulation
 * and a release without a guarantee (CELLAR_ERR_RULE), a name that is taken (CELLAR_ERR_EXISTS), a
 * price above what is left (CELLAR_ERR_BUDGET), whatever else the dataset does not allow. When
 * drawing or writing fails after the charge, the message says what stays charged and how to go on.
 * On failure *out is NULL. Free *out with cellar_release_free(). */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_prepared_spend(cellar_prepared *prepared, cellar_ledger *ledger,
                      const cellar_payment *payment, const cellar_charged_file *file,
                      cellar_spend_result *result, cellar_release **out, cellar_error *err);

/* Notes in the ledger a release that no budget covers, made from cell keys; nothing is charged. The
 * statement of the dataset names it from then on. `stamp` is for cellar_prepared_draw(). Any other
 * release is refused (CELLAR_ERR_ARGUMENT). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_prepared_note(const cellar_prepared *prepared,
                                                               cellar_ledger *ledger,
                                                               const cellar_payment *payment,
                                                               char stamp[CELLAR_STAMP_TEXT],
                                                               cellar_error *err);

/* ---- the whole way in one call ---------------------------------------------- */

/* Options say what the dataset of a ledger says about what is protected: its neighbours, and its
 * unit where they name none, which lives as long as the ledger. Other neighbours are refused
 * (CELLAR_ERR_ARGUMENT). A dataset that is not there (or NULL) is left to whoever spends. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_protect_follow_dataset(const cellar_ledger *ledger, const char *dataset,
                              cellar_protect_options *options, cellar_error *err);

/* Protects a table by any spec, which is completed by the options (cellar_protect_complete_spec()).
 * With a ledger the options follow its dataset; it is charged, and the release appears in `file`,
 * as cellar_prepared_spend() says; cell keys are noted. A request that was charged before answers
 * the release of its recorded file. Without one (NULL) nobody pays, and `payment` and `file` are
 * not read. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_protect_spec(
    const cellar_table *table, const char *spec, const cellar_protect_options *options,
    cellar_ledger *ledger, const cellar_payment *payment, const cellar_charged_file *file,
    cellar_release **out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
