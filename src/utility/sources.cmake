# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES additivity.c answer.c association.c copies.c distance.c equal_delta.c expect.c foreign.c frame.c law.c margins.c
  measure.c plan.c propensity.c propensity_logistic.c propensity_models.c propensity_tree.c rank.c run.c spread.c utility.c)
