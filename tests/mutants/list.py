# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutants of what matters: a line, what it is broken into, why that would matter, and the test that
must notice. `make mutants` runs them all (tools/mutants); tests/structure/mutants.py checks that
every line is still there, exactly once."""
from typing import NamedTuple


class Mutant(NamedTuple):
    file: str
    old: str  # occurs exactly once in the file
    new: str
    why: str  # what the mutant would do
    test: str  # of ctest, which must fail


# What has to be built for a test, where it is not test_NAME alone.
TARGETS = {
    "crash/ledger": ["ledger_spender", "ledger_fault", "cellar"],
    "crash/power": ["crash_writer", "ledger_spender", "power_record", "cellar"],
    "net/certificates": ["test_net"],
}


def targets_of(test):
    kind, name = test.split("/")
    return TARGETS.get(test) or (["cellar", "cellar-statread"] if kind == "cli" else [f"test_{name}"])


STATE, CHECK, CHARGE = (f"src/ledger/{name}.c" for name in ("state", "check", "charge"))
SPEND, STORE, FILES = (f"src/ledger/{name}.c" for name in ("spend", "store", "files"))
VERIFY, WITNESS, AMOUNT = (f"src/ledger/{name}.c" for name in ("verify", "witness", "amount"))
OUTPUT, PLACE, FOLDER = "src/base/output.c", "src/base/place.c", "src/base/folder.c"
MANIFEST, SIGN, INSPECT = (f"src/release/files/manifest{name}.c" for name in ("", "_sign", "_inspect"))
PURE, CURVE, TIGHT = "src/privacy/certify_pure.c", "src/privacy/curve.c", "src/privacy/tight.c"
ROUNDING = "unit/rounding_directions"

MUTANTS = [
    # ---- caps and charges
    Mutant(STATE, "? amounts->rho_nano <= balance.left.rho_nano",
           "? amounts->rho_nano <= balance.cap.rho_nano",
           "each charge of rho is held against the whole cap", "unit/ledger_spend"),
    Mutant(STATE, ": amounts->epsilon_nano <= balance.left.epsilon_nano &&",
           ": amounts->epsilon_nano <= balance.cap.epsilon_nano &&",
           "each charge of epsilon is held against the whole cap", "unit/ledger_spend"),
    Mutant(STATE, "amounts->delta_atto <= balance.left.delta_atto;",
           "amounts->delta_atto <= balance.cap.delta_atto;",
           "each charge of delta is held against the whole cap", "unit/ledger_spend"),
    Mutant(STATE, "if (status == CELLAR_OK && analyst != NULL)",
           "if (status == CELLAR_OK && analyst == NULL)",
           "the cap of an analyst is not looked at", "unit/ledger_spend"),
    Mutant(STATE, "? INT64_MAX : sum;", "? 0 : sum;",
           "a sum that overflows starts again at nothing", "unit/ledger_amount"),
    Mutant(CHECK, "rho = (square + half - 1) / half;", "rho = square / half;",
           "rho of a pure epsilon is rounded down", "unit/ledger_spend"),
    Mutant(CHECK, "* population < ATTO)", "* population <= ATTO)",
           "a delta of one over the population passes", "unit/ledger_spend"),
    Mutant(CHARGE, "cellar_ledger_same(known->content, asked->content) &&", "",
           "a request stands for other data", "unit/ledger_spend"),
    Mutant(CHARGE, "CELLAR_TRY(cellar_ledger_check_share(ledger, charge->dataset, charge->analyst, err));",
           "", "who has no share spends from a shared dataset", "unit/ledger_spend"),
    Mutant(AMOUNT, "*out = (int64_t) floor + (is_up && !exact);", "*out = (int64_t) floor;",
           "the charge of a decimal is rounded down", "unit/ledger_amount"),
    Mutant(AMOUNT, "return amounts_read(epsilon, delta, rho, 0, out, err);",
           "return amounts_read(epsilon, delta, rho, 1, out, err);",
           "a cap is rounded up", "unit/ledger_amount"),
    Mutant(AMOUNT, "whole += whole << exponent != product;", "",
           "the charge of a bound is rounded down", "unit/ledger_amount"),
    # ---- spending
    Mutant(SPEND, "found && stage != NULL && strcmp(digest, stage->digest) == 0;",
           "found && stage != NULL;", "an output that was exchanged is published", "unit/ledger_spend"),
    Mutant(SPEND, "case CELLAR_CHARGE_CHARGED:\n        return spend_give_up(s, err);",
           "case CELLAR_CHARGE_CHARGED:\n        return spend_new(s, out->stamp, produce, context, err);",
           "one charge is drawn twice", "unit/ledger_spend"),
    Mutant(FILES, "if (request_lock(ledger, request, F_WRLCK) == 0)",
           "if (request_lock(ledger, request, F_RDLCK) == 0)",
           "two programs work on one request at once", "unit/ledger_spend"),
    Mutant(STORE, "    status = cellar_ledger_catch_up(ledger, err);\n"
           "    if (status == CELLAR_OK && !ledger->is_adopting)",
           "    if (status == CELLAR_OK && !ledger->is_adopting)",
           "a charge is weighed without what others charged", "unit/ledger_history"),
    Mutant(STORE, "PRAGMA synchronous=EXTRA;", "PRAGMA synchronous=OFF;",
           "a charge is lost with the power", "crash/power"),
    # ---- the history
    Mutant(STORE, "if (sodium_memcmp(stored, mac, sizeof mac) != 0)",
           "if (sodium_memcmp(stored, mac, 0) != 0)",
           "an entry that was edited counts", "unit/ledger_history"),
    Mutant(STORE, "randombytes_buf(random, sizeof random);", "memset(random, 0, sizeof random);",
           "the heads of two copies of a ledger can be equal", "unit/ledger_history"),
    Mutant(STORE, "facts.st_nlink != 1)", "facts.st_nlink == 0)",
           "a ledger has a second name and a second journal", "unit/ledger_history"),
    Mutant(VERIFY, "if (by_request(&charges[i - 1], &charges[i]) == 0)",
           "if (by_request(&charges[i - 1], &charges[i]) > 0)",
           "a request that is charged twice goes unnoticed", "unit/ledger_history"),
    Mutant(VERIFY, "if (strcmp(ledger->entries[found->number - 1]->head, found->head) != 0)",
           "if (found->head[0] == '\\0')", "the stamp of another history is believed",
           "unit/ledger_history"),
    Mutant(VERIFY, "if (!is_there || stage == NULL || strcmp(stage->digest, digest) != 0)",
           "if (!is_there || stage == NULL)", "an edited release is vouched for",
           "unit/ledger_history"),
    # ---- the witness
    Mutant(WITNESS, "return sodium_memcmp(line + length, mac, MAC_DIGITS) == 0;",
           "return sodium_memcmp(line + length, mac, 0) == 0;",
           "anybody can write to the witness", "unit/ledger_witness"),
    Mutant(WITNESS, "strcmp(ledger->entries[seen->n_entries - 1]->head, seen->head) == 0;",
           "seen->head[0] != '\\0';", "another history of the same length fits", "unit/ledger_witness"),
    Mutant(WITNESS, "if (n < 0 || fsync(fd) != 0)", "if (n < 0)",
           "the witness forgets with the power", "unit/ledger_witness"),
    Mutant(STORE, "if (status == CELLAR_OK && cellar_ledger_witness(ledger) != NULL)",
           "if (status != CELLAR_OK && cellar_ledger_witness(ledger) != NULL)",
           "the witness does not hear of a charge", "unit/ledger_witness"),
    # ---- files
    Mutant(OUTPUT, "if (output->failure == 0 && fsync(output->fd) != 0)",
           "if (output->failure == 0 && output->fd < 0)",
           "a file has its name before its bytes are on disk", "unit/output"),
    Mutant(OUTPUT, "output->mode = options->shared ? 0644 : 0600;", "output->mode = 0644;",
           "everybody reads true counts", "unit/output"),
    Mutant(OUTPUT, "fd = openat(place.fd, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);",
           "fd = openat(place.fd, from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);",
           "a link in the place of what is staged is followed", "unit/output"),
    Mutant(OUTPUT, "if (fchmod(fd, mode) != 0 || fsync(fd) != 0)", "if (chmod(path, mode) != 0)",
           "the mode of whatever has the name is changed", "unit/output"),
    Mutant(OUTPUT, "if (!cellar_place_is(place, place->name, &facts))", "if (place->fd < 0)",
           "what somebody else put there is taken for ours", "unit/output"),
    Mutant(PLACE, "if ((mode & 022) == 0 ||", "if ((mode & 002) == 0 ||",
           "a folder that a group can write to is trusted", "unit/output"),
    Mutant(PLACE, "|| facts->st_nlink != 1)", ")",
           "somebody keeps a second name of what is published", "unit/output"),
    Mutant(PLACE, "if (fsync(place->fd) == 0)", "if (place->fd >= 0)",
           "a name is lost with the power", "unit/output"),
    Mutant(FOLDER, "int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);",
           "int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);",
           "a link in a folder shares somebody else's file", "unit/output"),
    # ---- manifests, signatures and digests
    Mutant(MANIFEST, "if (memcmp(list->lines[i], line, DIGITS) != 0)",
           "if (memcmp(list->lines[i], line, 0) != 0)",
           "a file that changed is the file of the manifest", "unit/manifest"),
    Mutant(MANIFEST, "    if (i < list->n)\n", "    if (i > list->n)\n",
           "a file that is in no manifest goes along", "unit/manifest"),
    Mutant(SIGN, "if (!cellar_public_key_verifies(key, PURPOSE, message.bytes, message.length, who.signature))",
           "if (message.length == 0)", "any signature is good", "unit/manifest"),
    Mutant(SIGN, "CELLAR_TRY(accepted_check(folder, &found, accept, err));", "",
           "what has no protection is signed unasked", "unit/manifest"),
    Mutant(INSPECT, 'return file_says(file, "\\"confidential\\"", "true") ||', "return 0 ||",
           "a confidential JSON is signed", "unit/manifest"),
    Mutant("src/release/files/release_read.c", "if (!read_agrees(stated, digest)) {",
           "if (stated == NULL) {", "numbers that were edited are a release", "unit/release_file"),
    Mutant("src/release/files/release_read.c", "if (status == CELLAR_OK && !read_agrees(stated, found))",
           "if (status == CELLAR_OK && stated == NULL)",
           "a CSV that was edited is a release", "unit/release_file"),
    # ---- noise
    Mutant("src/random/rng.c", "(!s->ready || (!rng->wiped_on_fork && rng->owner != getpid())))",
           "(!s->ready && rng->owner == getpid()))",
           "a child has no bytes, or its parent's", "unit/random"),
    Mutant("src/random/locked.c", "MADV_WIPEONFORK", "MADV_NORMAL",
           "a child repeats its parent's bytes", "unit/random"),
    Mutant("src/random/rng.c", "    hash_field(&hash, scope->mechanism, strlen(scope->mechanism));\n",
           "", "noise of two mechanisms is the same draw", "unit/random"),
    Mutant("src/random/rng.c", "    hash_field(&hash, scope->edition, strlen(scope->edition));\n", "",
           "noise of two editions is the same draw", "unit/random"),
    Mutant("src/release/charge/fingerprint.c", "add_number(f, cells->count[i]);", "add_number(f, 0);",
           "a request stands for other counts", "unit/fingerprint"),
    Mutant("src/mechanism/matrix/cell_key.c", "while (keys[i] >= row->ends[at])",
           "while (keys[i] > row->ends[at])", "a key at a bound gets the change before it",
           "unit/cell_key"),
    Mutant("src/mechanism/matrix/cell_key.c", "(at_most ? 1 : 0);", "0;",
           "a bound of tables that say at most is taken for below", "unit/cell_key"),
    # ---- certificates
    Mutant("src/privacy/pair_threshold.c", "    return yes;\n", "    return yes + 1;\n",
           "the threshold of a violation is off by one", ROUNDING),
    Mutant("src/privacy/setting.c", "CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1;",
           "CELLAR_NEIGHBOURS_SUBSTITUTE ? 1 : 1;", "a substitution changes one cell", ROUNDING),
    Mutant("src/privacy/setting.c", "s->group = is_chain ? options->per_unit : 1;", "s->group = 1;",
           "a unit of several records is one record", ROUNDING),
    Mutant("src/privacy/losses.c", "if (!pair->is_monotone || upper == rising || out->n == 0) {\n"
           "            out->infinite = nextafter(out->infinite + mass, 2);",
           "if (!pair->is_monotone || upper == rising || out->n == 0) {\n"
           "            out->infinite = nextafter(out->infinite, 2);",
           "the tail that is left out counts for nothing", ROUNDING),
    Mutant(TIGHT, "finite += times * log1p(-fmin(l->infinite, 1));",
           "finite += log1p(-fmin(l->infinite, 1));",
           "infinite loss of many cells is that of one", ROUNDING),
    Mutant(CURVE, "(step > 1e-12 ? expm1(epsilon) / step : m * exp(epsilon)) * (1 + 1e-12);",
           "m;", "delta of a group grows like the group alone", ROUNDING),
    Mutant(CURVE, "(s->options->parallel ? largest : total) * (1 + 1e-12));",
           "(s->options->parallel ? largest : total) * (1 - 1e-12));",
           "the sum of deltas is rounded down", ROUNDING),
    Mutant(CURVE, "return (s->options->parallel ? largest : sum) * (1 + 1e-12);",
           "return (s->options->parallel ? largest : sum) * (1 - 1e-12);",
           "the sum of epsilons is rounded down", ROUNDING),
    Mutant(PURE, "fmpq_add(total, total, one);", "fmpq_set(total, one);",
           "pure epsilon of several mechanisms is that of the last", ROUNDING),
    Mutant(PURE, "sum = nextafter(sum + nextafter(epsilon, INFINITY), INFINITY);",
           "sum = nextafter(sum + nextafter(epsilon, -INFINITY), -INFINITY);",
           "the sum of pure epsilons is rounded down", ROUNDING),
    Mutant(PURE, "cells > 1 ? nextafter(epsilon, INFINITY) : epsilon);",
           "cells > 1 ? nextafter(epsilon, -INFINITY) : epsilon);",
           "the pure epsilon of many cells is rounded down", ROUNDING),
    Mutant(PURE, "side < 0 ? nextafter(c->pure, INFINITY) : c->pure;", "c->pure;",
           "an exact sum of pure epsilons is rounded to the nearest double", ROUNDING),
    Mutant(PURE, "side > 0 ? nextafter(c->pure_lower, 0) : c->pure_lower;", "c->pure_lower;",
           "the lower bound of an exact sum is rounded up", ROUNDING),
    Mutant(PURE, "fmin(1, -expm1(total) * (1 + 1e-12)) : 0;",
           "fmin(1, -expm1(total) * (1 - 1e-12)) : 0;",
           "the mass of infinite loss is rounded down", ROUNDING),
    Mutant(PURE, "c->composition.rho = cellar_ball_upper(ball);",
           "c->composition.rho = cellar_ball_lower(ball);", "rho is rounded down", ROUNDING),
    Mutant("src/privacy/certify.c", "cellar_curve_epsilon(s, nextafter(at->delta, 0), &found, err)",
           "cellar_curve_epsilon(s, at->delta * (1 + 1e-9), &found, err)",
           "epsilon belongs to a larger delta than was asked for", ROUNDING),
    Mutant("src/privacy/certificate_write.c", "if (is_up ? side < 0 : side > 0)",
           "if (is_up ? side > 0 : side < 0)", "JSON shows less than the bound", ROUNDING),
    Mutant("src/privacy/certificate_write.c", "ceil(1000 / (1 + exp(-epsilon))) / 10,",
           "100 / (1 + exp(-epsilon)),", "a probability is rounded down", ROUNDING),
    Mutant("src/base/text.c", "(is_up ? told < value : told > value)) {",
           "(is_up ? told > value : told < value)) {", "words show less than the bound", ROUNDING),
    # ---- gates
    Mutant("src/release/guarantee/level.c", "if ((needs & ~accepted) == 0)", "if ((needs & accepted) == 0)",
           "what has no protection passes unless it is accepted", "unit/release_level"),
    Mutant("src/release/guarantee/level.c", ": revealed < LEVEL_REVEALED ", ": revealed <= 1 ",
           "nothing is ever without protection", "unit/release_level"),
    Mutant("src/protocol/policy.c", "if (invitation->terms.k >= policy->least_k)",
           "if (invitation->terms.k + 1 >= policy->least_k)",
           "a group is smaller by one than a participant asks for", "unit/collect_policy"),
    Mutant("src/protocol/policy.c", "if (cellar_decision_bound(decision) > policy->most_exposure)",
           "if (cellar_decision_bound(decision) > 1)",
           "a participant's bound on exposure is not looked at", "unit/collect_roles"),
    Mutant("src/protocol/spool.c", "if (fdatasync(spool->fd) != 0)", "if (spool->fd < 0)",
           "a submission that was acknowledged is lost with the power", "crash/power"),
    Mutant("src/protocol/spool.c", "if (n_whole < spool->n_synced)", "if (n_whole > spool->n_synced)",
           "a damaged spool is cut instead of refused", "unit/collect_shuffler"),
    Mutant("src/base/file.c", "if (n > limit_bytes) {", "if (n > limit_bytes + 1) {",
           "a file is read beyond its limit", "unit/file"),
    Mutant("src/statread/sandbox.c", "FAIL(__NR_openat),", "ALLOW(__NR_openat),",
           "who takes over the reader opens files", "unit/statread"),
]
