/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All of Cellar: frequency tables about people, published without giving the people away. */
#ifndef CELLAR_CELLAR_H
#define CELLAR_CELLAR_H

#include <cellar/acceptance.h>
#include <cellar/adjustment.h>
#include <cellar/amounts.h>
#include <cellar/anonymity.h>
#include <cellar/cell_key.h>
#include <cellar/certificate.h>
#include <cellar/charged.h>
#include <cellar/chart.h>
#include <cellar/codelist.h>
#include <cellar/collect.h>
#include <cellar/collect_decision.h>
#include <cellar/collect_papers.h>
#include <cellar/convert.h>
#include <cellar/cube.h>
#include <cellar/cube_inference.h>
#include <cellar/cube_plan.h>
#include <cellar/describe.h>
#include <cellar/dirichlet.h>
#include <cellar/estimate.h>
#include <cellar/export.h>
#include <cellar/exposure.h>
#include <cellar/inference.h>
#include <cellar/interval.h>
#include <cellar/key.h>
#include <cellar/ledger.h>
#include <cellar/manifest.h>
#include <cellar/matrix.h>
#include <cellar/mechanism.h>
#include <cellar/microdata.h>
#include <cellar/output.h>
#include <cellar/plan.h>
#include <cellar/process.h>
#include <cellar/progress.h>
#include <cellar/random.h>
#include <cellar/release.h>
#include <cellar/release_file.h>
#include <cellar/report.h>
#include <cellar/risk.h>
#include <cellar/risk_fit.h>
#include <cellar/selection.h>
#include <cellar/status.h>
#include <cellar/store.h>
#include <cellar/study.h>
#include <cellar/table.h>
#include <cellar/table_file.h>
#include <cellar/tabulate.h>
#include <cellar/terms.h>
#include <cellar/text.h>
#include <cellar/utility.h>
#include <cellar/version.h>

#endif
