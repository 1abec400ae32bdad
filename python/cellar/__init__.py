# SPDX-License-Identifier: GPL-3.0-or-later
"""Frequency tables about people, published safely.

    import cellar
    table = cellar.tabulate(frame, ["region", "sex"], codelists={"region": "region.csv", "sex": ["F", "M"]})
    release = cellar.protect(table, "discrete-laplace:epsilon=0.5", negatives="keep")
    release.to_pandas()

A Table holds true counts: it shows its shape and no count, and cannot be pickled; so does what risk(), exposure() and
utility() compute from one. A Release can be published, and so can what fit(), synthesize() and a Cube make.
sign() signs a folder of releases. What the command line has and this package has not is in docs/python.md, "Not there yet".
Numbers that decide a guarantee (epsilon, delta) are given as text or as Decimal, so that they stay exact.
"""
from ._assess import (ExposedGroup, Exposure, ExposureBound, Risk, Utility, exposed_groups, exposure, exposure_bounds,
                      risk, utility)
from ._choices import ColumnSet, Selection, Suppression, select_columns, suppress_values
from ._core import (Certificate, Error, Interval, Key, Mechanism, Membership, Release, RowReport, Table, Variable,
                    __version__, certify, create_key, infer, mechanism, membership, merge, pmf, protect, read_key,
                    read_release, read_table, tabulate)
from ._estimates import (Cube, CubeInterval, CubeTable, Estimate, Fit, Side, Synthetic, fit, read_cube, read_estimate,
                         synthesize)
from ._ledgers import Amounts, Amplified, Balance, Ledger, LedgerEntry, create_ledger
from ._plans import Plan, PlanRun, Ptable, ptable, read_plan, read_ptable, report, report_committee
from ._signed import Signed, sign, verify_release
from ._tests import BinomialTest, ModelTest, binomial_test, independence, loglinear

__all__ = ["Amounts", "Amplified", "Balance", "BinomialTest", "Certificate", "ColumnSet", "Cube", "CubeInterval",
           "CubeTable", "Error", "Estimate", "ExposedGroup", "Exposure", "ExposureBound", "Fit", "Interval", "Key",
           "Ledger", "LedgerEntry", "Mechanism", "Membership", "ModelTest", "Plan", "PlanRun", "Ptable", "Release",
           "Risk", "RowReport", "Selection", "Side", "Signed", "Suppression", "Synthetic", "Table", "Utility", "Variable",
           "__version__", "binomial_test", "certify", "create_key", "create_ledger", "exposed_groups", "exposure",
           "exposure_bounds", "fit", "independence", "infer", "loglinear", "mechanism", "membership", "merge", "pmf",
           "protect", "ptable", "read_cube", "read_estimate", "read_key", "read_plan", "read_ptable", "read_release",
           "read_table", "report", "report_committee", "risk", "select_columns", "sign", "suppress_values", "synthesize",
           "tabulate", "utility", "verify_release"]
